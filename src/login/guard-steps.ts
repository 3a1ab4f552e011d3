import type { DenialFigures, Problem } from '../http/denial-body.js'
import { undecidedDenial } from '../http/denial-response.js'
import { sendDenial } from '../http/deny-request.js'
import type { RequestOptions } from '../http/options.js'
import {
  type ChargeRequest,
  chargeRequest,
  type RequestSteps,
  requestSteps,
  withResult,
} from '../http/request-steps.js'
import type { LoginWriter } from '../http/response-writer.js'
import { headerOf } from '../keys/request.js'
import { isKey, valueHash } from '../keys/value-identity.js'
import { adjustmentsOf } from '../limiter/adjust-limiter.js'
import type { Adjustments } from '../limiter/adjustments.js'
import { claimStore } from '../limiter/claimed-store.js'
import { chargedParts, type Decision } from '../limiter/decision.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import { isUndecidedDenial } from '../limiter/undecided.js'
import { createEmitter } from '../platform.js'
import { UNDECIDED_RETRY_MS } from '../policies/judge-denials.js'
import type { Emitter } from '../util/emitter.js'
import type { ServerTypes } from '../util/framework-types.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { wrongKind } from '../util/validate.js'
import { type Attempts, attemptRecord } from './attempt.js'
import { STRANGER } from './device-cookie.js'
import { describeLimits, inARowNames, loginLimits } from './limits.js'
import { warnOfMissingField } from './missing-field.js'
import { type LoginOptions, type LoginSettings, pickShared, readLoginOptions } from './options.js'
import { report } from './outcome.js'
import { hasSafeMethod, type RouteOf } from './place.js'
import { type LoginEvents, securityLog } from './security-events.js'
import { settleAttempts } from './settle-attempt.js'

export const OWNER = 'loginGuard'
/** `Retry-After` of denied attempts if the account's limit has no window. */
const DEFAULT_RETRY_AFTER_MS = 3_600_000

/** The methods and events that a login guard has in addition to those of `rateLimit`. */
export interface LoginControls<Req> {
  /** Entries for a security log. The limiter's own events are at `limiter.events`. */
  readonly events: Emitter<LoginEvents<Req>>
  /**
   * Returns the account's name in events and keys, which is a hash, or `undefined` if there is no name.
   * `subject` is what the key functions read, such as `{ body: { username: 'ada' } }`. It is read again on
   * each call. For an attempt in progress, returns the account that was charged.
   */
  accountId(subject: Req | Record<string, unknown>): MaybePromise<string | undefined>
  /**
   * Reports that an attempt is a success, whatever its status is and `succeeded` returns. Call it before the
   * headers of the response are sent. Otherwise it throws an `Error`. The last report takes effect.
   *
   * It has no effect if the guard has not allowed the request as an attempt, or if the client has hung up.
   * It also has none on a request that the guard has never seen, such as a copy or a wrapper.
   */
  reportSuccess(req: Req): void
  /**
   * Reports that an attempt is a failure, as `reportSuccess` does for a success. It counts as a failure in a
   * row even if the status is a 5xx.
   */
  reportFailure(req: Req): void
  /** Returns a row for each limit in force, for `console.table` and for security documentation. */
  describe(): { limit: string; key: string; policy: string }[]
}

/**
 * Creates the steps of requests to a login, and what its guard has beside them. Throws a `TypeError` for
 * wrong options.
 */
export function guardSteps<Req extends object, Res>(
  options: LoginOptions<ServerTypes<Req, Res>>,
  writer: LoginWriter<Res>,
  routeOf: RouteOf<Req>,
): {
  steps: RequestSteps<Req, Res>
  controls: LoginControls<Req> & { readonly limiter: MiddlewareLimiter<Req> }
} {
  const login = readLoginOptions(options, writer)
  const { name, prefix } = login
  const hashOf = valueHash(login.secret)
  const attempts = attemptRecord(login)
  const limits = loginLimits(login, attempts)
  const events = createEmitter<LoginEvents<Req>>()
  const claimed = options.store && claimStore(OWNER, options.store, options.name, `${prefix}:${name}`)
  const shared: RequestOptions<ServerTypes<Req, Res>> = {
    ...pickShared(options),
    name,
    ...(claimed && { store: claimed.store }),
    denyCache: false, // its limits count denials
    headers: 'none',
    limits,
    skip(req, res) {
      const isRead = hasSafeMethod(req) && login.account.isMissing(req)
      return thenMaybe(isRead, (skips) => skips || (options.skip?.(req, res) ?? false))
    },
  }

  const steps = requestSteps<Req, Res>(OWNER, shared, writer, {
    charge: chargeUnlessMalformed(malformedTest(login, options.field, attempts)),
    denialFigures: uniformFigures(login),
    onAllowed: settleAttempts(login, attempts, securityLog(events, login), writer, routeOf),
  })
  const { limiter, stepped } = steps
  const adjustments = adjustmentsOf(stepped)
  const forget = forgetAccount(adjustments.forget, attempts, inARowNames(login.consecutive))
  stepped.adjustments = { ...adjustments, forget }
  if (claimed !== undefined) stepped.stops.push(claimed.releaseStore)
  const controls = {
    limiter,
    events,
    accountId: (subject: Req | Record<string, unknown>) =>
      thenMaybe(attempts.name(subject), (account) => (isKey(account) ? hashOf(account) : undefined)),
    reportSuccess: (req: Req) => report(attempts.get(req)?.ending, 'success'),
    reportFailure: (req: Req) => report(attempts.get(req)?.ending, 'failure'),
    describe: () => describeLimits(limits, login.cookies !== undefined),
  }
  return { steps, controls }
}

/**
 * Creates the function that returns whether a request names its account as no name can be, or not at all.
 */
function malformedTest<Req extends object>(
  { name: guard, account }: LoginSettings<Req, never>,
  field: string | undefined,
  attempts: Attempts<Req>,
): (req: Req) => MaybePromise<boolean> {
  return (req) =>
    thenMaybe(attempts.begin(req), ({ name }) => {
      if (name !== null) return false
      if (field !== undefined && account.fieldOf(req) === undefined) warnOfMissingField(guard, field, req)
      return true
    })
}

const MALFORMED: Problem = { type: 'about:blank', title: 'Bad request' }

/** Returns how a guard charges a request: not at all if it is malformed, except in report mode. */
function chargeUnlessMalformed<Req extends object, Res>(
  isMalformed: (req: Req) => MaybePromise<boolean>,
): ChargeRequest<Req, Res> {
  return (steps, req, res, onDenied) =>
    withResult(req, isMalformed(req), (malformed) => {
      if (!malformed || steps.modeSwitch.mode === 'report') return chargeRequest(steps, req, res, onDenied)
      return sendDenial(steps, res, undecidedDenial(MALFORMED, 400, headerOf(req, 'accept')))
    })
}

/**
 * Returns the figures in the response to a denied attempt, the same for all of them. They say neither which
 * limit denied nor how much is left, so no client learns whether an account exists or is locked (OWASP
 * Authentication cheat sheet; ASVS 5.0, 6.3.8). The time is the window of the account's limit, unless only
 * attempts in progress cause the denial: those end soon.
 */
function uniformFigures({ limits }: LoginSettings<never, never>): (decision: Decision) => DenialFigures {
  const { windowMs } = limits.account
  const figures = {
    retryAfterMs: Number.isFinite(windowMs) ? windowMs : DEFAULT_RETRY_AFTER_MS,
    parts: [],
  }
  const whileUndecided = { retryAfterMs: UNDECIDED_RETRY_MS, parts: [] }
  return (decision) => (isUndecidedDenial(decision) ? whileUndecided : figures)
}

const FORGET_FIX = "Write forget({ body: { username: 'ada' } })."

type Forget<Req> = Adjustments<Req>['forget']

/**
 * Returns a `forget` that releases an account for strangers, and all its known devices from a lock. Only
 * browsers know which devices there are: what one of them has failed within a window ends with the window.
 */
function forgetAccount<Req extends object>(
  forget: Forget<Req>,
  attempts: Attempts<Req>,
  inARow: readonly string[],
): Forget<Req> {
  return async function forgetForAll(subject, options) {
    if (typeof subject !== 'object' || subject === null)
      throw wrongKind(
        OWNER,
        'the subject of forget',
        'a request, a decision or { body }',
        subject,
        FORGET_FIX,
      )
    if (chargedParts(subject) !== undefined) return forget(subject, options)
    const name = await attempts.name(subject)
    const forgetOf = async (device: string, of: typeof options) =>
      attempts.runAs(subject, { name, device }, () => forget(subject, of))
    const ofKnown = inARow.filter((limit) => options?.limits?.includes(limit) ?? true)
    await Promise.all([forgetOf(STRANGER, options), forgetOf('any known', { limits: ofKnown })])
  }
}
