import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stringifySetCookie } from 'cookie'
import { wrongOption } from '../checks.js'
import { type Duration, durationMs } from '../durations.js'
import { headerOf } from '../keys/key.js'
import { readOptions, withDefault } from '../option-table.js'
import { readSecret } from '../read-options.js'
import { DEVICE_COOKIE, readDeviceCookies } from './cookie-header.js'

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

/** An attempt, with what its request proves. */
interface Attempt extends Named {
  /** The request's device cookies, good ones and others, by name. */
  readonly cookies: ReadonlyMap<string, string>
  readonly device: string | undefined
}

/** So many a browser keeps, of all guards of a host: each takes about 100 bytes of every request. */
const MAX_COOKIES = 10
const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * The device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof that this browser has logged in to this
 * account before, so that it is counted apart from those who only know the name. It holds no name, lets nobody in, and is good
 * for one account at one guard until it expires: who logs in at a public form under a name that the staff's form knows, too, proves nothing there.
 *
 * It is good for the spelling that was typed, too: the guard takes `"Ada"` and `"ada"` for one account, and the application may not, so that
 * whoever owns the one must not get a proof for the other.
 *
 * Each account has a cookie of its own, with a name that only the guard can compute. A form that another site submits carries no SameSite=Lax
 * cookie (RFC 6265bis §8.8.2): one cookie for all accounts would be replaced by the response to an attacker's own login in the victim's browser.
 */
export function deviceCookie<Req extends IncomingMessage>(
  { secret: secrets, lasts: lastsMs }: DeviceCookieSettings,
  { prefix, name, nameAsTyped }: CookieScope<Req>,
): DeviceCookie<Req> {
  const attempts = new WeakMap<Req, Attempt>()

  function keyedHash(secret: string, ...texts: readonly string[]): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify([prefix, name, ...texts]))
      .digest('base64url')
  }

  function nameOf(secret: string, { account, typed }: Named): string {
    return DEVICE_COOKIE + keyedHash(secret, 'device cookie', account, typed).slice(0, 8)
  }

  function signatureOf(secret: string, { account, typed }: Named, device: string, expires: string): string {
    return keyedHash(secret, 'device', account, typed, device, expires)
  }

  function deviceIn(secret: string, proof: string, named: Named): string | undefined {
    const [, device = '', expires = '', signature = ''] = PROOF.exec(proof) ?? []
    if (device === '' || secondsOf(expires) * 1000 <= Date.now()) return undefined
    const expected = signatureOf(secret, named, device, expires)
    return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? device : undefined
  }

  function readAttempt(req: Req, account: string): Attempt {
    const known = attempts.get(req)
    if (known?.account === account) return known
    const named = { account, typed: nameAsTyped(req) ?? account }
    const cookies = readDeviceCookies(headerOf(req, 'cookie'))
    const attempt = { ...named, cookies, device: knownDevice(cookies, named) }
    attempts.set(req, attempt)
    return attempt
  }

  function knownDevice(cookies: ReadonlyMap<string, string>, named: Named): string | undefined {
    if (cookies.size === 0) return undefined
    for (const secret of secrets) {
      const device = deviceIn(secret, cookies.get(nameOf(secret, named)) ?? '', named)
      if (device !== undefined) return device
    }
    return undefined
  }

  return {
    lastsMs,
    deviceOf: (req, account) => readAttempt(req, account).device,
    give(req, res) {
      const attempt = attempts.get(req)
      if (attempt === undefined || isCrossSite(req)) return
      const [secret = ''] = secrets
      const { device = randomBytes(12).toString('base64url'), cookies } = attempt
      const cookie = nameOf(secret, attempt)
      const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
      const proof = `${device}.${expires}.${signatureOf(secret, attempt, device, expires)}`
      res.appendHeader('Set-Cookie', setCookie(cookie, proof, Math.ceil(lastsMs / 1000)))
      for (const old of surplusBeside(cookie, cookies)) res.appendHeader('Set-Cookie', setCookie(old, '', 0))
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

/** Whether another site submitted the form, as browsers say (W3C Fetch Metadata). Such a login, if it is one, plants no cookie in its visitors' browsers. */
function isCrossSite(req: IncomingMessage): boolean {
  return headerOf(req, 'sec-fetch-site') === 'cross-site'
}

/**
 * Returns the names of the cookies that are too many beside a new one, those that expire first. A few for each response at most, so
 * that its headers stay small, whatever a browser holds.
 */
function surplusBeside(kept: string, cookies: ReadonlyMap<string, string>): string[] {
  const others = [...cookies].filter(([name]) => name !== kept)
  const sorted = others.map(([name, proof]) => ({ name, expires: secondsOf(proof.split('.')[1] ?? '') }))
  sorted.sort((a, b) => a.expires - b.expires)
  const surplus = Math.max(0, others.length + 1 - MAX_COOKIES)
  return sorted.slice(0, Math.min(surplus, MAX_COOKIES)).map(({ name }) => name)
}

/** Reads the time at which a proof expires; 0 where there is none. */
function secondsOf(expires: string): number {
  return Number.parseInt(expires, 36) || 0
}

function setCookie(name: string, value: string, maxAge: number): string {
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, secure: true, sameSite: 'lax' })
}
