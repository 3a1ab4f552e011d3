import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { type Duration, durationMs } from '../durations.js'
import { headerOf } from '../keys/key.js'
import { readOptions, withDefault } from '../option-table.js'
import { readSecret } from '../read-options.js'

/** How browsers are known again. */
export interface DeviceCookieOptions {
  /** Signs the cookie. At least 16 characters; with another one, all devices are strangers until they log in again. */
  secret: string
  /** How long a device is known after its last login. Default 90 days. */
  lasts?: Duration
}

const OPTIONS = {
  rows: {
    secret: withDefault('', (owner, _option, secret) => readSecret(owner, secret) as string),
    lasts: withDefault('90d', durationMs),
  },
  renamed: { maxAge: 'lasts', expires: 'lasts' },
}

/** Knows browsers again that have logged in before. */
export interface DeviceCookie {
  readonly lastsMs: number
  /** Which device a request proves to be, for this account; `undefined` = a stranger. */
  deviceOf(req: IncomingMessage, account: string): string | undefined
  /** Lets a browser be known from now on. To be called before the headers of its response are sent. */
  give(req: IncomingMessage, res: ServerResponse, account: string): void
}

/** Such a name is only taken from the host itself, over TLS (RFC 6265bis §4.1.3.2). */
export const DEVICE_COOKIE = '__Host-headgate-device'
/** Accounts that log in from one browser; the one that was there last is first. */
const MAX_PROOFS = 5
const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * The device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof that this browser has logged in to this
 * account before, so that it is counted apart from those who only know the name. It holds no name, lets nobody in, and is good
 * for one account until it expires.
 */
export function deviceCookie(owner: string, options: DeviceCookieOptions): DeviceCookie {
  const { secret, lasts: lastsMs } = readOptions(`${owner}: deviceCookie`, options, OPTIONS)

  function signatureOf(account: string, device: string, expires: string): string {
    const signed = `headgate device\0${account}\0${device}\0${expires}`
    return createHmac('sha256', secret).update(signed).digest('base64url')
  }

  function deviceIn(proof: string, account: string): string | undefined {
    const [, device = '', expires = '', signature = ''] = PROOF.exec(proof) ?? []
    if (device === '' || Number.parseInt(expires, 36) * 1000 <= Date.now()) return undefined
    const expected = signatureOf(account, device, expires)
    return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? device : undefined
  }

  return {
    lastsMs,
    deviceOf(req, account) {
      for (const proof of proofsIn(req)) {
        const device = deviceIn(proof, account)
        if (device !== undefined) return device
      }
      return undefined
    },
    give(req, res, account) {
      const proofs = proofsIn(req)
      const known = proofs.find((proof) => deviceIn(proof, account) !== undefined)
      const device = known?.slice(0, 16) ?? randomBytes(12).toString('base64url')
      const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
      const proof = `${device}.${expires}.${signatureOf(account, device, expires)}`
      const others = proofs.filter((other) => other !== known).slice(0, MAX_PROOFS - 1)
      const value = [proof, ...others].join('~')
      res.appendHeader('Set-Cookie', setCookie(value, Math.ceil(lastsMs / 1000)))
    },
  }
}

/** The proofs in a request's cookie, good ones and others, as many as it would hold. */
function proofsIn(req: IncomingMessage): string[] {
  const value = parseCookie(headerOf(req, 'cookie') ?? '')[DEVICE_COOKIE] ?? ''
  return value
    .slice(0, MAX_PROOFS * 80)
    .split('~', MAX_PROOFS)
    .filter((proof) => PROOF.test(proof))
}

function setCookie(value: string, maxAge: number): string {
  return stringifySetCookie({
    name: DEVICE_COOKIE,
    value,
    maxAge,
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'lax',
  })
}
