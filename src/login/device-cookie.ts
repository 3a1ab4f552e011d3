import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import { headerOf } from '../keys/key.js'
import { readSecret } from '../limiter/parse-options.js'
import { advise } from '../options/hints/hint.js'
import { callback, readOptions, withDefault } from '../options/option-table.js'
import { type Duration, durationMs } from '../util/durations.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { show, wrongOption } from '../util/validate.js'
import { DEVICE_COOKIE, NO_COOKIES, readDeviceCookies, secondsOf, setDeviceCookies } from './cookie-header.js'

/** How browsers are recognized that have logged in before. */
export interface DeviceCookieOptions<Req = IncomingMessage> {
  /**
   * Signs the cookies. At least 16 characters. Of an array the first secret signs and all of them verify: to
   * rotate secrets, put the new one first, and remove the old one when `lasts` has passed. Cookies signed
   * with a removed secret make their browsers strangers until they log in again.
   */
  secret: string | readonly string[]
  /**
   * Ends all older cookies of an account when what it returns changes: `(account) =>
   * users.get(account)?.passwordChangedAt`. It gets the name as the guard folds it, as `onLockout` does, and
   * is called once for each attempt, before the charge and also for attempts that are refused; so let it be
   * cheap, and take as long for a name that nobody has, for which it returns `undefined`. May be async; an
   * error in it goes to `next`.
   */
  epoch?: (account: string, req: Req) => MaybePromise<DeviceEpoch>
  /** How long a device is known after its last login. Default 90 days. */
  lasts?: Duration
}

/**
 * What changes when an account's device cookies are to end. `null` and `undefined` are one, and so are a
 * date and its milliseconds.
 */
export type DeviceEpoch = string | number | bigint | Date | null | undefined

const OPTIONS = {
  rows: {
    secret: readSecrets,
    epoch: callback<(account: string, req: never) => MaybePromise<DeviceEpoch>>,
    lasts: withDefault('90d', durationMs),
  },
  renamed: { maxAge: 'lasts', expires: 'lasts' },
  hint: (option: string) => (option === 'name' ? advise('Write name beside deviceCookie.') : undefined),
}

/** The options of device cookies, read and checked. */
export interface DeviceCookieSettings<Req> {
  readonly secrets: readonly string[]
  readonly epochOf: DeviceCookieOptions<Req>['epoch']
  readonly lastsMs: number
}

/** Reads and checks the options of device cookies. Throws a `TypeError` that never shows a secret. */
export function readDeviceCookie<Req>(
  owner: string,
  option: string,
  options: unknown,
): DeviceCookieSettings<Req> {
  const read = readOptions(`${owner}: ${option}`, options as object, OPTIONS)
  const epochOf = read.epoch as DeviceCookieOptions<Req>['epoch']
  return { secrets: read.secret, epochOf, lastsMs: read.lasts }
}

/** What device cookies are bound to. */
export interface CookieScope<Req> {
  readonly prefix: string
  readonly name: string | undefined
  /** The name that an attempt is for, as it was typed; `undefined` = the account itself. */
  readonly nameAsTyped: (req: Req) => string | undefined
  /** Whether the guard handles this request as an attempt; what is read of any other is not remembered. */
  readonly isAttempt: (req: Req) => boolean
}

/** Recognizes browsers that have logged in before. */
export interface DeviceCookie<Req> {
  readonly lastsMs: number
  /**
   * Returns which device of this account a request comes from, by its cookie; `undefined` = a stranger. Read
   * once for each request.
   */
  deviceOf(req: Req, account: string): MaybePromise<string | undefined>
  /**
   * Makes the browser of this attempt, whose device has been read, a known one. Call it before the headers
   * of its response are sent.
   */
  give(req: Req, res: ServerResponse): void
}

/** Whom an attempt is for. */
interface Named {
  readonly account: string
  /** Read before the handler runs, which may change the body. */
  readonly typed: string
  /**
   * Read before the charge: a response is signed right before its headers are sent, when nothing can be
   * waited for.
   */
  readonly epoch: string
}

/** An attempt, with what its request proves. */
interface Attempt extends Named {
  /** The request's device cookies, good ones and others, by name. */
  readonly cookies: ReadonlyMap<string, string>
  readonly device: string | undefined
}

const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * The device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof that this
 * browser has logged in to this account before, so that it is counted apart from those who only know the
 * name. It holds no name, lets nobody in, and is good for one account at one guard until it expires: who
 * logs in at a public form under a name that the staff's form knows, too, proves nothing there.
 *
 * It is good for the spelling that was typed, too: the guard takes `"Ada"` and `"ada"` for one account, and
 * the application may not, so that whoever owns the one must not get a proof for the other.
 *
 * Each account has a cookie of its own, with a name that only the guard can compute. A form that another
 * site submits carries no SameSite=Lax cookie (RFC 6265bis §4.1.2.7): one cookie for all accounts would be
 * replaced by the response to an attacker's own login in the victim's browser.
 */
export function deviceCookie<Req extends IncomingMessage>(
  { secrets, epochOf, lastsMs }: DeviceCookieSettings<Req>,
  { prefix, name, nameAsTyped, isAttempt }: CookieScope<Req>,
): DeviceCookie<Req> {
  const attempts = new WeakMap<Req, { readonly account: string; attempt: MaybePromise<Attempt> }>()

  function keyedHash(secret: string, ...texts: readonly string[]): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify([prefix, name, ...texts]))
      .digest('base64url')
  }

  function nameOf(secret: string, { account, typed }: Named): string {
    return DEVICE_COOKIE + keyedHash(secret, 'device cookie', account, typed).slice(0, 8)
  }

  function signatureOf(secret: string, named: Named, device: string, expires: string): string {
    const { account, typed, epoch } = named
    return keyedHash(secret, 'device', account, typed, epoch, device, expires)
  }

  function deviceIn(secret: string, proof: string, named: Named): string | undefined {
    const [, device = '', expires = '', signature = ''] = PROOF.exec(proof) ?? []
    if (device === '' || secondsOf(expires) * 1000 <= Date.now()) return undefined
    const expected = signatureOf(secret, named, device, expires)
    return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? device : undefined
  }

  function readAttempt(req: Req, account: string): MaybePromise<Attempt> {
    const known = attempts.get(req)
    if (known?.account === account) return known.attempt
    const typed = nameAsTyped(req) ?? account
    const cookies = readDeviceCookies(headerOf(req, 'cookie'))
    const attempt = thenMaybe(epochOf?.(account, req), (value) => {
      const named = { account, typed, epoch: epochText(value) }
      return { ...named, cookies, device: knownDevice(cookies, named) }
    })
    if (!isAttempt(req)) return attempt // its body, and the epoch, may change
    const entry = { account, attempt }
    attempts.set(req, entry)
    if (isPromise(attempt)) keepResult(entry, attempt)
    return attempt
  }

  function keepResult(entry: { attempt: MaybePromise<Attempt> }, attempt: Promise<Attempt>): void {
    const keep = (read: Attempt) => Object.assign(entry, { attempt: read })
    attempt.then(keep, () => undefined) // an error reaches next by way of the limiter
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
    deviceOf: (req, account) => thenMaybe(readAttempt(req, account), ({ device }) => device),
    give(req, res) {
      const attempt = attempts.get(req)?.attempt
      const site = fetchSite(req)
      if (attempt === undefined || isPromise(attempt) || site === 'cross-site') return
      const [secret = ''] = secrets
      const { device = randomBytes(12).toString('base64url'), cookies } = attempt
      const cookie = nameOf(secret, attempt)
      const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
      const proof = `${device}.${expires}.${signatureOf(secret, attempt, device, expires)}`
      const others = site === undefined || site === 'same-origin' ? cookies : NO_COOKIES
      res.appendHeader('Set-Cookie', setDeviceCookies(cookie, proof, lastsMs, others))
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

/** How an epoch is signed. */
function epochText(value: unknown): string {
  const plain = types.isDate(value) ? value.getTime() : (value ?? '')
  if (typeof plain === 'string' || typeof plain === 'bigint' || Number.isFinite(plain)) return String(plain)
  const must = 'a string, a finite number, a bigint, a valid Date or undefined'
  throw new TypeError(`loginGuard: deviceCookie: epoch must return ${must}, got ${show(plain)}.`)
}

/**
 * Returns where the form was submitted, as browsers say (W3C Fetch Metadata). A login from another site
 * plants no cookie in its visitors' browsers; one from another origin of the same site removes none.
 */
function fetchSite(req: IncomingMessage): string | undefined {
  return headerOf(req, 'sec-fetch-site')
}
