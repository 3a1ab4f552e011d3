import type { OnAllowed } from '../http/after-response.js'
import type { LoginWriter } from '../http/response-writer.js'
import { isKey } from '../keys/value-identity.js'
import { adjustmentsOf } from '../limiter/adjust-limiter.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { LimiterParts } from '../limiter/limiter-methods.js'
import { refundDecision } from '../limiter/refund-decision.js'
import { decidedUnits, endUndecided } from '../limiter/undecided.js'
import { messageOf } from '../stores/store-error.js'
import { catchMaybe, type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import type { Attempt, Attempts } from './attempt.js'
import { clearBudget } from './clear-budget.js'
import { STRANGER } from './device-cookie.js'
import { formWatch } from './form-watch.js'
import { inARowNames } from './limits.js'
import type { LoginSettings } from './options.js'
import { type AttemptOutcome, onOutcome, outcomeOf } from './outcome.js'
import { type Arrival, loginPlaces, type RouteOf } from './place.js'
import { warnOfPlace, warnOfUncounted } from './place-warnings.js'
import { type LogEvent, logExhausted } from './security-events.js'
import { successWatch } from './success-watch.js'

/** An attempt that was charged and allowed. */
interface Allowed<Req, Res> {
  readonly limiter: LimiterParts<Req>
  readonly req: Req
  readonly res: Res
  readonly decision: Decision
  readonly attempt: Attempt
  /** How many failures of the account are charged, without attempts in progress. */
  readonly failures: number
  /** How the request arrived. */
  readonly arrival: Arrival
}

/**
 * Creates the `onAllowed` of a guard: it applies the outcome of each attempt. A success clears the failures
 * of the account, refunds the address, and makes the browser a known device. Where no password was checked,
 * as far as the guard can know, the attempt is refunded and clears nothing. A failure stays charged; so does
 * a server error (5xx), except in the count of failures in a row: it shows nothing about a password, and
 * must not lead to a lock that only support can end. The same goes for failures at a place where some
 * process would not recognize a success.
 */
export function settleAttempts<Req extends object, Res>(
  { name: guard, path, succeeded, decides, onLockout, cookies, consecutive }: LoginSettings<Req, Res>,
  attempts: Attempts<Req>,
  log: LogEvent<Req>,
  writer: LoginWriter<Res>,
  routeOf: RouteOf<Req>,
): OnAllowed<Req, Res> {
  const places = loginPlaces(path, decides, routeOf)
  const watch = successWatch(guard)
  const forms = formWatch(guard, writer)
  const budget = clearBudget(guard)
  const countRunning = counter()
  const inARow = inARowNames(consecutive)
  const ofAccount = [...OF_ACCOUNT, ...inARow]

  function settle(allowed: Allowed<Req, Res>, outcome: AttemptOutcome): MaybePromise<unknown> {
    const { limiter, req, decision, arrival } = allowed
    if (outcome === 'success') return succeed(allowed)
    if (outcome === 'none') return refundDecision(limiter, decision)
    const isLastInRow = logExhausted(log, req, allowed.attempt.name, decision)
    if (outcome === 'failure' && places.countsInRow(arrival, req))
      return isLastInRow ? lockOut(allowed) : undefined
    if (outcome === 'failure' && inARow.length > 0 && places.isLogin(arrival, req))
      warnOfUncounted(guard, req)
    return refundDecision(limiter, decision, inARow)
  }

  /** Counts a login, and clears the failures of its account, unless earlier logins have cleared too many. */
  function succeed(allowed: Allowed<Req, Res>): MaybePromise<unknown> {
    const { limiter, req, res, decision, attempt, failures, arrival } = allowed
    const isReported = attempt.ending?.reported === 'success' // the application knows
    places.recordSuccess(arrival, req, isReported)
    if (failures > 0) log(req, attempt.name, 'authn_login_successafterfail', failures)
    if (!isKey(attempt.name)) return clear(limiter, decision, ofAccount)
    watch.recordSuccess(req, String(attempt.name), attempt.address)
    const budgetName = `${attempt.device === STRANGER ? STRANGER : 'known'} ${attempt.name}`
    if (!isReported && budget.isUsedUp(budgetName)) return refundDecision(limiter, decision)
    if (!writer.areHeadersSent(res)) remember(allowed)
    if (isReported) return clear(limiter, decision, ofAccount)
    const count = catchMaybe(
      () => failuresNow(decision), // before they are cleared
      () => failures,
    )
    const spending = thenMaybe(count, (now) => budget.spend(budgetName, now))
    return thenMaybe(clear(limiter, decision, ofAccount), () => spending)
  }

  function remember({ req, res, attempt }: Allowed<Req, Res>): void {
    const headers = cookies?.remember(req, attempt) ?? []
    if (headers.length > 0) writer.appendHeader(res, 'Set-Cookie', headers)
  }

  async function lockOut({ limiter, req, attempt: { name } }: Allowed<Req, Res>): Promise<void> {
    log(req, name, 'authn_login_lock', 'maxretries')
    if (limiter.settings.modeSwitch.mode === 'report') return
    try {
      await onLockout?.(String(name), req)
    } catch (error) {
      const problem = `onLockout threw (${messageOf(error)}). The account is locked all the same.`
      warnOnce('HEADGATE_LOCKOUT_FAILED', `headgate: ${problem}`)
    }
  }

  return function followAttempt(limiter, req, res, decision) {
    const attempt = attempts.get(req)
    if (attempt === undefined) return // disconnected before it began, and passes in report mode
    const { name } = attempt
    const arrival = places.arrive(req)
    const running = decision.allowed ? countRunning(name, 1) : 0 // charged, but not yet failures
    const failures = attemptsIn(decision) - running
    const allowed = { limiter, req, res, decision, attempt, failures, arrival }
    const form = forms.follow(res)
    const emitError = (error: unknown) => emitFailure(limiter.events, 'refundFailed', error, decision)
    const end = () => {
      if (decision.allowed) countRunning(name, -1)
    }

    function readOutcome(): AttemptOutcome {
      try {
        const isSuccess = succeeded(req, res)
        const status = writer.statusOf(res)
        places.recordStatus(req, status)
        if (status === 401) for (const each of [watch, forms]) each.recordRejection()
        const isLogin = places.isLogin(arrival, req)
        if (isSuccess && !isLogin && places.isMissed(arrival, req, failures))
          warnOfPlace(guard, req, { isDecided: decides, isUnproven: places.isUnproven(arrival, req) })
        const outcome = outcomeOf(isSuccess, isLogin, req, status)
        if (outcome === 'success') form?.recordSuccess()
        return outcome
      } catch (error) {
        emitError(error)
        return 'failure'
      }
    }

    attempt.ending = onOutcome(writer, res, readOutcome, (outcome) => {
      const settled = catchMaybe(() => settle(allowed, outcome), emitError)
      endUndecided(decision) // in the same batch
      return thenMaybe(settled, end)
    })
  }
}

/** The limits that tell how many failures an account has. */
const COUNTS = ['consecutive', 'account']

/** Returns how many attempts at the account a decision shows: the highest count of its limits. */
function attemptsIn({ parts }: Decision): number {
  const ofAccount = parts.filter(({ name }) => COUNTS.includes(name))
  return Math.max(0, ...ofAccount.map(({ limit, remaining }) => limit - remaining))
}

/**
 * Returns at least how many failures the account of a decision has now, without attempts in progress in any
 * process. An attempt may take long, so others may have failed since it was charged.
 */
function failuresNow(decision: Decision): MaybePromise<number> {
  return thenMaybe(decidedUnits(decision, COUNTS), (units) => Math.max(0, ...units))
}

/** Creates a counter by name, which counts up or down and returns the count; 0 takes no memory. */
function counter(): (name: unknown, change: 1 | -1) => number {
  const counts = new Map<unknown, number>()
  return (name, change) => {
    const count = (counts.get(name) ?? 0) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
    return count
  }
}

const OF_ACCOUNT = ['account-and-address', 'account']
const OF_ADDRESS = ['address']

/**
 * Forgets the failures of the account at once, so that those that come after the response are counted. Only
 * the address is refunded, and only this attempt: a slow refund of a limit that is forgotten would take back
 * a later failure.
 */
function clear<Req>(
  limiter: LimiterParts<Req>,
  decision: Decision,
  ofAccount: readonly string[],
): MaybePromise<unknown> {
  const forget = () => adjustmentsOf(limiter).forget(decision, { limits: ofAccount })
  const refund = () => refundDecision(limiter, decision, OF_ADDRESS)
  return readAll<() => MaybePromise<void>, void>([forget, refund], (step) => step())
}
