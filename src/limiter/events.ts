import type { BreakerState } from '../pipe/breaker-state.js'
import { channel } from '../platform.js'
import { messageOf, type StoreError } from '../stores/store-error.js'
import type { WarningCode } from '../util/codes.js'
import type { Emitter } from '../util/emitter.js'
import { warnOnce } from '../util/warn-once.js'
import type { Decision, PartDecision } from './decision.js'
import type { AppliedSettings } from './settings-source.js'

/**
 * The events of a limiter, with their arguments. Events of a charge (`decision`, `denied`, `nearLimit` and
 * `storeError`) are emitted in its async context, so listeners can read the request's `AsyncLocalStorage`.
 */
export interface LimiterEvents<Subject> {
  /**
   * A charge was decided. In report mode, `decision` is what the limits would enforce. Also emitted for a
   * request that `skip` or `allow` exempts, or whose IP address is in `block`.
   */
  decision: [decision: Decision, subject: Subject]
  /** A charge was denied, or in report mode would have been. */
  denied: [decision: Decision, subject: Subject]
  /**
   * A charge was allowed, and its client has used 80% of a limit, by charges or by `penalize` and `adjust`.
   * Emitted once for each client and window of that limit in this process, or once an hour if the limit has
   * no window. The process remembers at least the last 10,000 clients.
   */
  nearLimit: [part: PartDecision, decision: Decision, subject: Subject]
  /**
   * The limits of `candidate` could not decide a charge, or an adjustment of them failed: their store
   * failed, or one of their functions threw. The limits in force are not affected.
   */
  candidateFailed: [error: unknown]
  /** The limits of `candidate` also decided a charge. `decision` is that of the limits in force. */
  candidate: [candidate: Decision, decision: Decision, subject: Subject]
  /** A document of `settings` was applied. Its rules are now in force. */
  settings: [settings: AppliedSettings]
  /**
   * The document of `settings` could not be read, is missing, or is invalid. The last valid one stays in
   * force. Emitted once for each outage, and once for each invalid document. Also emitted for a document
   * that names a limit that the limiter does not have. The rest of that document is in force.
   */
  settingsFailed: [error: Error]
  /**
   * The store could not decide a charge. `source` of the decision says what happened instead. An overload guard
   * emits it once for each outage in which processes cannot share their tenants.
   */
  storeError: [error: StoreError]
  /**
   * A circuit breaker changed its state. `cause` is the store's last error, unless the breaker is closed. If
   * the store has several servers, each has a circuit breaker, and `server` says which. `'closed'` also
   * means that a server is not called any more, as after a failover.
   */
  storeState: [state: BreakerState, cause: StoreError | undefined, server?: string]
  /**
   * The store lost counts, as by eviction, a flush or a restart. For a while, more than a limit may be
   * admitted.
   */
  limitsLost: [error: StoreError]
  /**
   * A refund or a release failed. Either a `count` function threw, or the store failed and the outcome is
   * unknown, or the operation was never sent. It is not sent if the limiter is closed first, or if more than
   * 10,000 refunds are waiting. Units that were not given back stay taken, but those of a concurrency limit
   * expire after `ttl`. `decision` is `undefined` if headgate no longer has it.
   */
  refundFailed: [error: unknown, decision: Decision | undefined]
  /** The units of a concurrency limit could not be renewed. headgate retries until they are released. */
  renewalFailed: [error: StoreError]
}

/** For each failure event, the code of its warning without a listener, and the text for warnings and logs. */
export const FAILURES = {
  storeError: ['HEADGATE_STORE_ERROR', 'the store could not decide a charge'],
  limitsLost: ['HEADGATE_LIMITS_LOST', 'the store lost counts, so some clients start afresh'],
  refundFailed: ['HEADGATE_REFUND_FAILED', 'units could not be refunded or released'],
  candidateFailed: ['HEADGATE_CANDIDATE_FAILED', 'a candidate could not decide a charge or be adjusted'],
  settingsFailed: ['HEADGATE_SETTINGS_FAILED', 'a settings document could not be read or applied'],
  renewalFailed: ['HEADGATE_RENEWAL_FAILED', 'units of a concurrency limit could not be renewed'],
} as const satisfies Record<string, readonly [code: WarningCode, problem: string]>

/** A message on the channel `headgate:failure`: a failure that is not about one charge. */
export interface FailureMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  readonly event: Exclude<keyof typeof FAILURES, 'storeError'>
  readonly error: unknown
}

const failures = channel('headgate:failure')
const limiterNames = new WeakMap<object, string | undefined>()

/** Sets the limiter that messages about failures of these events name. */
export function nameEvents(events: object, limiter: string | undefined): void {
  limiterNames.set(events, limiter)
}

/** Emits a failure, or warns once if it has no listener. */
export function emitFailure<Subject, Name extends keyof typeof FAILURES>(
  events: Emitter<LimiterEvents<Subject>>,
  name: Name,
  ...args: LimiterEvents<Subject>[Name]
): void {
  if (name !== 'storeError' && failures.hasSubscribers) {
    const limiter = limiterNames.get(events)
    failures.publish({ limiter, event: name, error: args[0] } satisfies FailureMessage)
  }
  if (emit(events, name, args)) return
  const [code, problem] = FAILURES[name]
  const fix = `To log every occurrence, listen to limiter.events.on('${name}', …).`
  warnOnce(code, `headgate: ${problem} (${messageOf(args[0])}). ${fix}`)
}

/** Emits an event. Returns whether it has a listener. A listener that throws causes one process warning. */
export function emit<Events extends Record<keyof Events, unknown[]>, Name extends keyof Events & string>(
  events: Emitter<Events>,
  name: Name,
  args: Events[Name],
): boolean {
  try {
    return events.emit(name, ...args)
  } catch (error) {
    const problem = `a listener for '${name}' threw (${messageOf(error)})`
    warnOnce('HEADGATE_LISTENER_FAILED', `headgate: ${problem}. Fix the listener.`)
    return true
  }
}
