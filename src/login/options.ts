import { type DenialOptions, MIDDLEWARE_ROWS, type RequestFields } from '../http/options.js'
import type { LoginWriter } from '../http/response-writer.js'
import { byIp } from '../keys/by-ip.js'
import type { KeyFunction } from '../keys/key-types.js'
import { callback, optional, readOptions, type Settings, withDefault } from '../options/option-table.js'
import type { FrameworkTypes, ServerTypes } from '../util/framework-types.js'
import { wholeNumber } from '../util/validate.js'
import { ACCOUNT_ROWS, type AccountOptions, accountReader } from './account.js'
import { deviceCookies } from './device-cookie.js'
import { type DeviceCookieOptions, readDeviceCookie } from './device-options.js'
import { FIXES } from './fixes.js'
import { checkResult, type SuccessTest } from './outcome.js'
import { readPaths } from './place.js'
import { type LoginPolicies, readPolicies, warnOfLockout } from './policies.js'
import { readFailureRedirect, succeededByStatus } from './redirect.js'

/** Options that mean the same as those of `rateLimit`. */
const SHARED = [
  ...['store', 'name', 'prefix', 'secret', 'onStoreError', 'fallbackShare', 'timeout'],
  ...['skip', 'allow', 'block', 'mode'],
  ...['statusCode', 'message', 'onDenied'],
] as const

/** The name of an option that `loginGuard` shares with `rateLimit`. */
type Shared = (typeof SHARED)[number]

/** Returns what an object has for the options that `rateLimit` shares. */
export function pickShared<T extends object>(options: T): Pick<T, Shared & keyof T> {
  const shared = Object.entries(options).filter(([name]) => SHARED.some((each) => each === name))
  return Object.fromEntries(shared) as Pick<T, Shared & keyof T>
}

/**
 * The options of a login guard in any framework. Only `field` or `account` is required. The others are the
 * limits, how the guard recognizes a success, and some of the options of `rateLimit`.
 */
export type LoginOptions<F extends FrameworkTypes> = LoginFields<
  F['request'],
  F['response'],
  F['requestTest']
>

/** Each option of a login guard. */
interface LoginFields<Req, Res, Skip>
  extends AccountOptions<Req>,
    Pick<RequestFields<Req, Res, Skip>, Exclude<Shared, 'onDenied'>> {
  /**
   * Returns whether a response is a successful login. Called right before its headers are sent. Default: a
   * status below 300, or a redirect (3xx) that is a success by `failureRedirect`. `guard.reportSuccess` and
   * `guard.reportFailure` take precedence.
   *
   * True means that the request was a login. So return false where no password was checked. True counts for
   * POST, PUT and PATCH at the route or `path` of the guard, and for GET and DELETE at a `path` that takes
   * none of these. Elsewhere, it counts only once the process has responded with 401 to the same method
   * there. It never counts for HEAD, OPTIONS and TRACE, or outside of `path` if that is set.
   */
  succeeded?: SuccessTest<Req, Res>
  /**
   * Which redirects (3xx) are failures. Default: all of them, and the first one emits the process warning
   * `HEADGATE_LOGIN_REDIRECT`.
   *
   * - A path such as `'/login'`, one with query parameters such as `'/login?error'`, or several of them:
   *   redirects to these are failures, and all others are successes. A `Location` must be an absolute path
   *   or URL to be a success.
   * - `false`: failures are never redirected, so every redirect is a success.
   *
   * A list of paths is safe only if the application writes the whole `Location` itself. If a client can
   * choose any of it (`/:lang/login`, `req.originalUrl`, `Referer`), it can have its failures redirected to
   * a path that is not in the list. Use `guard.reportSuccess` or `succeeded` instead.
   */
  failureRedirect?: string | readonly string[] | false
  /**
   * The path whose POST requests carry the password, such as `'/login'`, or several. Write whole paths as
   * clients send them, with every prefix. They are compared exactly with the path of the request, and with
   * that of the route that the framework reports.
   *
   * Only a response there can be a success by its status, `failureRedirect` or `succeeded`. Elsewhere such a
   * response clears nothing, and the first one emits the process warning `HEADGATE_LOGIN_PATH`.
   * `guard.reportSuccess` counts everywhere.
   *
   * Default: the route that the guard is part of (`app.post('/login', guard, handler)`), if it is part of
   * only one route whose pattern is a plain path. If a wrapper or a mounted application hides the guard, a
   * process recognizes successes only once that route has responded with 401 in it, and failures in a row do
   * not count.
   */
  path?: string | readonly string[]
  /** The key function that reads the IP address. Default `byIp()`. */
  address?: KeyFunction<Req>
  /**
   * Policies in place of the default ones. By default, an IP address has 50 failures in an hour, an account
   * 10 in 30 minutes, and an account from one address 5 in 30 minutes.
   */
  limits?: Partial<LoginPolicies>
  /**
   * How many failures in a row lock the account until you call `forget`, however long they take. Default
   * 100, the most that NIST SP 800-63B-4 §3.2.2 allows. Failures count only where every process recognizes
   * successes, because only a success clears them. Set `path` to ensure that. With `false`, there is no
   * lock, which leaves that rule to the application. With device cookies, known browsers have a separate
   * count: one for all browsers of an account.
   */
  consecutive?: number | false
  /**
   * Called with the account after the last of these failures. Use it to start a password reset. Anyone can
   * get an account locked, so do not disable its password. That would also keep out known browsers, which
   * the lock does not deny. If it throws, the account is still locked, and headgate emits the process
   * warning `HEADGATE_LOCKOUT_FAILED`. It is not called if the process ends during that attempt or its store
   * replies too late.
   */
  onLockout?: (account: string, req: Req) => unknown
  /**
   * Limits browsers that have logged in before separately from others, so attackers cannot lock users out by
   * guessing at their names. Requires the option `name`: the cookies are valid for this guard alone.
   */
  deviceCookie?: DeviceCookieOptions<Req>
}

/** The options of `loginGuard` in a framework. Only `field` or `account` is required. */
export interface LoginGuardOptions<F extends FrameworkTypes> extends LoginOptions<F>, DenialOptions<F> {}

const ROWS = {
  ...pickShared(MIDDLEWARE_ROWS),
  ...ACCOUNT_ROWS,
  address: callback,
  limits: withDefault({}, readPolicies),
  consecutive: withDefault(100, (owner, option, value) =>
    value === false ? false : wholeNumber(owner, option, value),
  ),
  onLockout: callback,
  succeeded: callback,
  failureRedirect: optional(readFailureRedirect),
  path: optional(readPaths),
  deviceCookie: optional(readDeviceCookie),
}

const RULES = {
  reader: { from: ['field', 'account', 'normalize'], read: accountReader },
  outcomeCheck: { from: ['succeeded', 'failureRedirect'], read: checkOutcome },
  cookieCheck: { from: ['deviceCookie', 'name', 'consecutive'], read: checkCookie },
} as const

/** Reads and checks a guard's own options. Throws a `TypeError` that names each wrong option and the fix. */
export function readLoginOptions<Req extends object, Res>(
  options: LoginOptions<ServerTypes<Req, Res>>,
  writer: LoginWriter<Res>,
) {
  const read = readOptions('loginGuard', options, { rows: ROWS, rules: RULES, fixes: FIXES })
  const { deviceCookie: cookie, prefix, name = 'login' } = read
  const { succeeded } = options
  const byStatus = succeededByStatus(writer, read.failureRedirect)
  warnOfLockout(name, read.limits)
  return {
    ...read,
    name,
    account: read.reader,
    address: options.address ?? byIp(),
    onLockout: options.onLockout,
    cookies: cookie && deviceCookies(cookie, prefix, name),
    succeeded: succeeded ? (req: Req, res: Res) => checkResult(succeeded(req, res)) : byStatus,
    /** Whether the application decides which requests were logins. */
    decides: succeeded !== undefined,
  }
}

export type LoginSettings<Req extends object, Res> = ReturnType<typeof readLoginOptions<Req, Res>>

type LoginRead = Settings<typeof ROWS>

function checkOutcome(owner: string, { succeeded, failureRedirect }: LoginRead): void {
  if (succeeded === undefined || failureRedirect === undefined) return
  const problem = 'give either succeeded or failureRedirect, not both'
  throw new TypeError(`${owner}: ${problem}. Leave failureRedirect out: succeeded also sees redirects.`)
}

function checkCookie(owner: string, { deviceCookie: cookie, name, consecutive }: LoginRead): void {
  if (cookie === undefined) return
  if (name === undefined) {
    const problem = 'deviceCookie requires name, because its cookies are valid for one name'
    throw new TypeError(`${owner}: ${problem}. Write name: 'login'.`)
  }
  // Else whoever collected cookies before the password changed has all limits with each of them.
  if (consecutive === false && cookie.epoch === undefined) {
    const problem = 'deviceCookie with consecutive: false requires an epoch that ends older cookies'
    throw new TypeError(`${owner}: ${problem}. Write epoch: (account) => passwordChangedAt(account).`)
  }
}
