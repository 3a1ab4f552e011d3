import type { EventEmitter } from 'node:events'
import type { BreakerState } from '../resilience/circuit-breaker.js'
import { messageOf, type StoreError } from '../stores/store-error.js'
import { warnOnce } from '../util/warn-once.js'
import type { Decision } from './decision.js'

/** The events of a limiter, with their arguments. */
export interface LimiterEvents<Subject> {
  /** A charge was denied (in report mode too). */
  limited: [decision: Decision, subject: Subject]
  /** The store could not decide a charge; `source` of the decision says what happened instead. */
  storeError: [error: StoreError]
  /** The circuit breaker changed its state. `cause` is the store's last error, unless it is closed. */
  storeState: [state: BreakerState, cause: StoreError | undefined]
  /** The store lost counts (evicted, flushed, restarted): for a while, more than a limit may be admitted. */
  limitsLost: [error: StoreError]
  /** A refund failed: a `count` function threw, or the store failed. The units stay taken. */
  refundFailed: [error: unknown, decision: Decision]
}

type Events<Subject> = EventEmitter<LimiterEvents<Subject>>

/** Emits that the store could not decide a charge, or warns once if nobody listens. */
export function emitStoreError<Subject>(events: Events<Subject>, error: StoreError): void {
  if (emit(events, 'storeError', [error])) return
  const problem = `the store could not decide a request (${error.message})`
  warnUnheard('HEADGATE_STORE_ERROR', problem, 'storeError')
}

/** Emits that the store lost counts, or warns once if nobody listens. */
export function emitLimitsLost<Subject>(events: Events<Subject>, error: StoreError): void {
  if (emit(events, 'limitsLost', [error])) return
  warnUnheard('HEADGATE_LIMITS_LOST', `limits were lost (${error.message})`, 'limitsLost')
}

/** Emits that a refund failed, or warns once if nobody listens. */
export function emitRefundFailed<Subject>(events: Events<Subject>, error: unknown, decision: Decision): void {
  if (emit(events, 'refundFailed', [error, decision])) return
  warnUnheard('HEADGATE_REFUND_FAILED', `units could not be refunded (${messageOf(error)})`, 'refundFailed')
}

function warnUnheard(code: `HEADGATE_${string}`, problem: string, event: string): void {
  warnOnce(code, `headgate: ${problem}. Listen to limiter.events.on('${event}', …) for each occurrence.`)
}

/** Emits an event; returns whether anybody listens. A listener that throws is a warning, once. */
export function emit<Events extends Record<keyof Events, unknown[]>, Name extends keyof Events & string>(
  events: EventEmitter<Events>,
  name: Name,
  args: Events[Name],
): boolean {
  try {
    return (events as EventEmitter).emit(name, ...args)
  } catch (error) {
    const problem = `a listener to '${name}' threw (${messageOf(error)})`
    warnOnce('HEADGATE_LISTENER_FAILED', `headgate: ${problem}. Fix the listener.`)
    return true
  }
}
