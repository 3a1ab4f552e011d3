import type { IncomingMessage, ServerResponse } from 'node:http'
import { MIDDLEWARE_ROWS, type RateLimitOptions } from '../http/options.js'
import { byIp } from '../keys/by-ip.js'
import type { KeyFunction } from '../keys/key.js'
import { LIMITER_RULES, readChoice } from '../limiter/parse-options.js'
import { loginHint } from '../options/hints/login-hint.js'
import {
  callback,
  optional,
  type Rows,
  readOptions,
  unchecked,
  withDefault,
} from '../options/option-table.js'
import { isPolicy, type Policy } from '../policies/policy.js'
import { choice, wholeNumber, wrongOption } from '../util/validate.js'
import { type AccountOptions, type AccountReader, accountReader } from './account.js'
import {
  type DeviceCookie,
  type DeviceCookieOptions,
  type DeviceCookieSettings,
  deviceCookie,
  readDeviceCookie,
} from './device-cookie.js'
import { defaultPolicies, type LoginPolicies } from './limits.js'
import { type OutcomeOptions, readSucceeded, type Succeeded } from './outcome.js'
import type { LoginRetryAfter } from './response.js'

/** Options of `rateLimit` that mean the same here. */
const SHARED = [
  'store',
  'name',
  'prefix',
  'secret',
  'onStoreError',
  'share',
  'timeoutMs',
  'skip',
  'allow',
  'block',
  'statusCode',
  'message',
  'onLimited',
  'mode',
] as const

/**
 * The options of `loginGuard`: how the account is read (`field` or `account`), the limits, how a success is told, and what `rateLimit` takes as
 * well. Only `field` or `account` is needed.
 */
export interface LoginGuardOptions<Req extends IncomingMessage, Res extends ServerResponse>
  extends AccountOptions<Req>,
    OutcomeOptions<Req, Res>,
    Pick<RateLimitOptions<Req, Res>, (typeof SHARED)[number]> {
  /** Reads the address. Default `byIp()`. */
  address?: KeyFunction<Req>
  /** Policies in place of the default ones: 50 in an hour per address, 10 in 30 minutes per account, 5 in 30 minutes per account and address. */
  limits?: Partial<LoginPolicies>
  /**
   * Failures in a row after which the account is locked until it is forgotten, whatever the time. Default
   * 100, the most that NIST SP 800-63B-4 §3.2.2 allows; `false` = never, which leaves that rule to the
   * application. With device cookies, known browsers have a count of their own: one for all of an account.
   */
  consecutive?: number | false
  /**
   * Called with the account when the last of these failures has happened, once: the place to have its password set anew. Anybody can bring an
   * account there, and a password that is disabled keeps known browsers out, too; the lock does not. What it throws becomes the process warning `HEADGATE_LOCKOUT_FAILED`; the account is locked all the same.
   */
  onLockout?: (account: string, req: Req) => unknown
  /**
   * Counts browsers apart that have logged in before, so that nobody locks out others by guessing at their
   * names. Needs the option `name`: the cookies are good for this guard alone.
   */
  deviceCookie?: DeviceCookieOptions<Req>
  /** What refused attempts are told of when to come back: `'coarse'` (the default), always the window of the account's limit; `'exact'`; `'none'`. */
  retryAfter?: LoginRetryAfter
  /** How security events name the account: `'hashed'` (the default), as in keys, or `'clear'`. */
  accountInEvents?: 'hashed' | 'clear'
}

/** What is read and checked of a guard's own options. */
export interface LoginSettings<Req, Res> {
  readonly account: AccountReader<Req>
  readonly address: KeyFunction<Req>
  readonly policies: LoginPolicies
  readonly mostInARow: number | false
  readonly succeeded: Succeeded<Req, Res>
  readonly devices: DeviceCookie<Req> | undefined
  readonly retryAfter: LoginRetryAfter
  readonly showsAccount: boolean
  readonly onLockout: ((account: string, req: Req) => unknown) | undefined
}

const OWNER = 'loginGuard'

/** How a guard's options are read. */
const ROWS = {
  ...sharedRows(),
  onStoreError: withDefault('local', readChoice),
  field: unchecked,
  account: unchecked,
  normalize: callback<(value: string) => string>,
  address: callback,
  limits: withDefault({}, readPolicies),
  consecutive: withDefault(100, (owner, option, value) =>
    value === false ? false : wholeNumber(owner, option, value),
  ),
  onLockout: callback,
  succeeded: callback,
  failureRedirect: unchecked,
  deviceCookie: optional(readDeviceCookie),
  retryAfter: withDefault('coarse', choice('coarse', 'exact', 'none')),
  accountInEvents: withDefault('hashed', choice('hashed', 'clear')),
} satisfies Rows

/** Reads and checks a guard's own options. Throws a `TypeError` that names the option and the mend. */
export function readLoginOptions<Req extends IncomingMessage, Res extends ServerResponse>(
  options: LoginGuardOptions<Req, Res>,
): LoginSettings<Req, Res> {
  const rules = {
    account: { from: ['field', 'account', 'normalize'], read: () => accountReader(OWNER, options) },
    outcome: { from: ['succeeded', 'failureRedirect'], read: () => readSucceeded(OWNER, options) },
    shareCheck: LIMITER_RULES.shareCheck,
    cookieName: { from: ['deviceCookie', 'name'], read: checkCookieName },
    cookieEpoch: { from: ['deviceCookie', 'consecutive'], read: checkEpoch },
  } as const
  const read = readOptions(OWNER, options, { rows: ROWS, rules, hint: loginHint })
  const { account, deviceCookie: cookie, prefix, name } = read
  return {
    account,
    address: options.address ?? byIp(),
    policies: read.limits,
    mostInARow: read.consecutive,
    succeeded: read.outcome,
    devices:
      cookie &&
      deviceCookie(cookie, { prefix, name, nameAsTyped: account.nameAsTyped, isAttempt: account.isAttempt }),
    retryAfter: read.retryAfter,
    showsAccount: read.accountInEvents === 'clear',
    onLockout: options.onLockout,
  }
}

/**
 * Without a limit in a row, whoever collected cookies before the password changed has the limits in time
 * with each of them: an epoch ends these cookies.
 */
function checkEpoch(
  owner: string,
  {
    deviceCookie: cookie,
    consecutive,
  }: { readonly deviceCookie: Cookie; readonly consecutive: number | false },
): void {
  if (consecutive !== false || cookie === undefined || cookie.epochOf !== undefined) return
  throw new TypeError(
    `${owner}: deviceCookie with consecutive: false needs an epoch that ends older cookies. ` +
      'Write deviceCookie: { secret, epoch: (account) => passwordChangedAt(account) }.',
  )
}

type Cookie = DeviceCookieSettings<never> | undefined

/** Device cookies are good for the guard of one name, and guards without a name are all called alike. */
function checkCookieName(
  owner: string,
  { deviceCookie: cookie, name }: { readonly deviceCookie: unknown; readonly name: string | undefined },
): void {
  if (cookie === undefined || name !== undefined) return
  const why = 'since its cookies are good for the guard of that name alone'
  throw new TypeError(`${owner}: deviceCookie needs the option name, ${why}. Write name: 'login'.`)
}

function sharedRows(): Pick<typeof MIDDLEWARE_ROWS, (typeof SHARED)[number]> {
  const rows = SHARED.map((name) => [name, MIDDLEWARE_ROWS[name]])
  return Object.fromEntries(rows)
}

/** The options that `rateLimit` reads. */
export function sharedOptions<Req extends IncomingMessage, Res extends ServerResponse>(
  options: LoginGuardOptions<Req, Res>,
): Pick<RateLimitOptions<Req, Res>, (typeof SHARED)[number]> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => SHARED.includes(name as never)))
}

function readPolicies(owner: string, option: string, limits: unknown): LoginPolicies {
  const defaults = defaultPolicies()
  const policyOr = (fallback: Policy) => withDefault(fallback, readPolicy)
  const rows = {
    address: policyOr(defaults.address),
    account: policyOr(defaults.account),
    accountAndAddress: policyOr(defaults.accountAndAddress),
  }
  const renamed = { ip: 'address', pair: 'accountAndAddress' }
  return readOptions(`${owner}: ${option}`, limits as object, { rows, renamed })
}

function readPolicy(owner: string, option: string, policy: unknown): Policy {
  if (isPolicy(policy)) return policy
  const mend = "Write slidingWindow({ limit: 10, window: '30m' })."
  throw wrongOption(owner, option, 'a policy', policy, mend)
}
