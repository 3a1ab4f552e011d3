import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DenialFigures } from '../http/denial-body.js'
import type { RateLimitOptions } from '../http/options.js'
import { middlewareFrom, type RateLimitMiddleware } from '../http/rate-limit.js'
import { isKey, valueHash } from '../keys/identity.js'
import { claimStore } from '../limiter/claimed-store.js'
import { chargeOf, type Decision } from '../limiter/decision.js'
import type { Limiter } from '../limiter/limiter.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Attempts, attemptRecord } from './attempt.js'
import { STRANGER } from './device-cookie.js'
import { describeLimits, loginLimits } from './limits.js'
import { type LoginGuardOptions, type LoginSettings, pickShared, readLoginOptions } from './options.js'
import { report } from './outcome.js'
import { type LoginEvents, securityLog } from './security-events.js'
import { settleAttempts } from './settle-attempt.js'

const OWNER = 'loginGuard'
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
/** `Retry-After` by `'coarse'` where the account's limit has no window. */
const DEFAULT_COARSE_MS = 3_600_000
/** Middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends RateLimitMiddleware<Req, Res> {
  /** Entries for a security log. The limiter's own events are at `limiter.events`. */
  readonly events: EventEmitter<LoginEvents<Req>>
  /**
   * Returns the account's name in events and keys: a hash. Takes what the key functions read, such as
   * `{ body: { username: 'ada' } }`, and reads it anew on each call; of an attempt in progress it is the
   * account that was charged. `undefined` where there is no name.
   */
  accountId(subject: Req | Record<string, unknown>): MaybePromise<string | undefined>
  /**
   * Reports that an attempt is a success, whatever its status is and `succeeded` returns. Must be called
   * before the headers of the response are sent, else it throws an `Error`; the last report takes effect.
   * Has no effect on a request that this guard has not allowed as an attempt, or whose client has hung up;
   * nor on one that it has never seen, such as a copy or a wrapper of the request.
   */
  reportSuccess(req: Req): void
  /** Like `reportSuccess`, for a failure. It counts as a failure in a row even if the status is a 5xx. */
  reportFailure(req: Req): void
  /** Returns a row for each limit in force, for `console.table` and for security documentation. */
  describe(): { limit: string; key: string; policy: string }[]
}

/**
 * Creates middleware that stops password guessing and lets real users in. It limits failed attempts per
 * address, per account across all addresses, per account and address, and in a row, decided together in one
 * round trip.
 *
 * - An attempt is charged before its handler runs, so that concurrent guesses are limited, too. A success
 *   refunds that, and clears the failures of the account, but not those of the address: logging in with an
 *   account of one's own buys no guesses.
 * - A status below 300 is a success. A redirect is a failure, unless `failureRedirect`, `succeeded` or
 *   `reportSuccess` says otherwise.
 * - Safe requests (GET, HEAD, OPTIONS, TRACE: RFC 9110 §9.2.1) without the field are not attempts and pass.
 *   An attempt whose field is missing or malformed (an array, an object, invisible characters) gets a 400.
 *   A body parser must run first.
 * - All refused attempts get the same response, without figures of any limit.
 * - While the store is unavailable each process decides in its own memory (`onStoreError: 'local'`).
 *
 * Numbers and their sources: `defaultPolicies` and `consecutive`; OWASP ASVS 5.0 V6.3, OWASP Authentication,
 * Credential Stuffing Prevention and Bot Management cheat sheets, NIST SP 800-63B-4 §3.2.2.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function loginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: LoginGuardOptions<Req, Res>): LoginGuard<Req, Res> {
  const login = readLoginOptions(options)
  const { name, prefix } = login
  const hashOf = valueHash(login.secret)
  const attempts = attemptRecord(login)
  const limits = loginLimits(login, attempts)
  const events = new EventEmitter<LoginEvents<Req>>()
  const shared: RateLimitOptions<Req, Res> = {
    ...pickShared(options),
    name,
    store: claimStore(OWNER, options.store, options.name, `${prefix}:${name}`),
    onStoreError: options.onStoreError ?? 'local',
    denyCache: false, // its limits count denials
    headers: 'none',
    limits,
    skip(req, res) {
      const isRead = SAFE_METHODS.includes(req.method ?? '') && login.account.fieldOf(req) === undefined
      return isRead || (options.skip?.(req, res) ?? false)
    },
  }
  const middleware = middlewareFrom(OWNER, shared, {
    isMalformed: (req) => thenMaybe(attempts.begin(req), (attempt) => attempt.name === null),
    figuresOf: uniformFigures(login),
    onAllowed: settleAttempts(login, attempts, securityLog(events, login)),
  })
  return Object.assign(middleware, {
    limiter: { ...middleware.limiter, forget: forgetAccount(middleware.limiter, attempts) },
    events,
    accountId: (subject: Req | Record<string, unknown>) =>
      thenMaybe(attempts.name(subject as Req), (account) => (isKey(account) ? hashOf(account) : undefined)),
    reportSuccess: (req: Req) => report(attempts.get(req)?.ending, 'success'),
    reportFailure: (req: Req) => report(attempts.get(req)?.ending, 'failure'),
    describe: () => describeLimits(limits, login.cookies !== undefined),
  })
}

/**
 * Creates the function that returns what a refused attempt is shown: the same for all of them, neither which
 * limit refused nor how much is left, so that nobody learns whether there is such an account, or whether it
 * is locked (OWASP Authentication cheat sheet; ASVS 5.0, 6.3.8).
 */
function uniformFigures({ retryAfter, limits }: LoginSettings<never, never>) {
  const { windowMs } = limits.account
  const coarseMs = Number.isFinite(windowMs) ? windowMs : DEFAULT_COARSE_MS
  const fixedMs = retryAfter === 'coarse' ? coarseMs : Number.POSITIVE_INFINITY
  return ({ retryAfterMs }: Decision): DenialFigures => {
    return { retryAfterMs: retryAfter === 'exact' ? retryAfterMs : fixedMs, parts: [] }
  }
}

/**
 * Returns a `forget` that releases an account for strangers, and all its known devices from a lock. Only
 * browsers know which devices there are: what one of them has failed within a window ends with the window.
 */
function forgetAccount<Req extends IncomingMessage>(
  limiter: Limiter<Req>,
  attempts: Attempts<Req>,
): Limiter<Req>['forget'] {
  return async function forget(subject, options) {
    if (chargeOf(subject) !== undefined) return limiter.forget(subject, options)
    const name = await attempts.name(subject as Req)
    const forgetOf = (device: string, of: typeof options) =>
      attempts.runAs(subject as Req, { name, device }, () => limiter.forget(subject, of))
    const row = options?.limits?.filter((limit) => limit === 'consecutive') ?? ['consecutive']
    await Promise.all([forgetOf(STRANGER, options), forgetOf('any known', { limits: row })])
  }
}
