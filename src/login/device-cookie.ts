import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { wrongOption } from '../checks.js'
import { type Duration, durationMs } from '../durations.js'
import { headerOf } from '../keys/key.js'
import { readOptions, withDefault } from '../option-table.js'
import { readSecret } from '../read-options.js'

/** How browsers are recognized that have logged in before. */
export interface DeviceCookieOptions {
  /**
   * Signs the cookies. At least 16 characters. Of an array the first secret signs and all of them verify: to rotate secrets, put the new one
   * first, and remove the old one when `lasts` has passed. Cookies signed with a removed secret make their browsers strangers until they log in again.
   */
  secret: string | readonly string[]
  /** How long a device is known after its last login. Default 90 days. */
  lasts?: Duration
}

const OPTIONS = {
  rows: {
    secret: readSecrets,
    lasts: withDefault('90d', durationMs),
  },
  renamed: { maxAge: 'lasts', expires: 'lasts' },
}

/** The options of device cookies, read and checked. */
export type DeviceCookieSettings = ReturnType<typeof readDeviceCookie>

/** Reads and checks the options of device cookies. Throws a `TypeError` that never shows a secret. */
export function readDeviceCookie(owner: string, option: string, options: unknown) {
  return readOptions(`${owner}: ${option}`, options as object, OPTIONS)
}

/** What device cookies are bound to. */
export interface CookieScope<Req> {
  readonly prefix: string
  readonly name: string | undefined
  /** The name that an attempt is for, as it was typed; `undefined` = the account itself. */
  readonly nameAsTyped: (req: Req) => string | undefined
}

/** Recognizes browsers that have logged in before. */
export interface DeviceCookie<Req> {
  readonly lastsMs: number
  /** Returns which device of this account a request comes from, by its cookie; `undefined` = a stranger. Read once for each request. */
  deviceOf(req: Req, account: string): string | undefined
  /** Makes the browser of this attempt, whose device has been read, a known one. Call it before the headers of its response are sent. */
  give(req: Req, res: ServerResponse): void
}

/** Whom an attempt is for. */
interface Named {
  readonly account: string
  /** Read before the handler runs, which may change the body. */
  readonly typed: string
}

/** An attempt, with the device that its request comes from. */
interface Attempt extends Named {
  readonly device: string | undefined
}

/** Such a name is only taken from the host itself, over TLS (RFC 6265bis §4.1.3.2). */
export const DEVICE_COOKIE = '__Host-headgate-device'
/** Accounts that log in from one browser; the one that was there last is first. */
const MAX_PROOFS = 5
const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * The device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof that this browser has logged in to this
 * account before, so that it is counted apart from those who only know the name. It holds no name, lets nobody in, and is good
 * for one account at one guard until it expires: who logs in at a public form under a name that the staff's form knows, too, proves nothing there.
 *
 * It is good for the spelling that was typed, too: the guard takes `"Ada"` and `"ada"` for one account, and the application may not, so that
 * whoever owns the one must not get a proof for the other.
 */
export function deviceCookie<Req extends IncomingMessage>(
  { secret: secrets, lasts: lastsMs }: DeviceCookieSettings,
  { prefix, name, nameAsTyped }: CookieScope<Req>,
): DeviceCookie<Req> {
  const attempts = new WeakMap<Req, Attempt>()

  function signatureOf(secret: string, { account, typed }: Named, device: string, expires: string): string {
    const signed = JSON.stringify(['headgate device', prefix, name, account, typed, device, expires])
    return createHmac('sha256', secret).update(signed).digest('base64url')
  }

  function deviceIn(proof: string, named: Named): string | undefined {
    const [, device = '', expires = '', signature = ''] = PROOF.exec(proof) ?? []
    if (device === '' || Number.parseInt(expires, 36) * 1000 <= Date.now()) return undefined
    const presented = Buffer.from(signature)
    const isGood = secrets.some((secret) =>
      timingSafeEqual(presented, Buffer.from(signatureOf(secret, named, device, expires))),
    )
    return isGood ? device : undefined
  }

  function readAttempt(req: Req, account: string): Attempt {
    const known = attempts.get(req)
    if (known?.account === account) return known
    const named = { account, typed: nameAsTyped(req) ?? account }
    const devices = proofsIn(req).map((proof) => deviceIn(proof, named))
    const attempt = { ...named, device: devices.find((device) => device !== undefined) }
    attempts.set(req, attempt)
    return attempt
  }

  return {
    lastsMs,
    deviceOf: (req, account) => readAttempt(req, account).device,
    give(req, res) {
      const attempt = attempts.get(req)
      if (attempt === undefined) return
      const device = attempt.device ?? randomBytes(12).toString('base64url')
      const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
      const proof = `${device}.${expires}.${signatureOf(secrets[0] as string, attempt, device, expires)}`
      const others = proofsIn(req)
        .filter((other) => !other.startsWith(device))
        .slice(0, MAX_PROOFS - 1)
      const value = [proof, ...others].join('~')
      res.appendHeader('Set-Cookie', setCookie(value, Math.ceil(lastsMs / 1000)))
    },
  }
}

/** Checks one secret or several, without ever showing one. The first signs. */
function readSecrets(owner: string, option: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  if (list.length === 0) {
    const must = 'a string, or an array of strings, of at least 16 characters each'
    throw wrongOption(owner, option, must, value, 'Make one with: openssl rand -hex 32.')
  }
  return list.map((secret) => readSecret(owner, secret ?? '') as string)
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
