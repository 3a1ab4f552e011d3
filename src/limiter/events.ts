import type { EventEmitter } from 'node:events'
import type { BreakerState } from '../resilience/circuit-breaker.js'
import { messageOf, type StoreError } from '../stores/store-error.js'
import { warnOnce } from '../util/warn-once.js'
import type { Decision } from './decision.js'

/** What a limiter tells those who listen, and with what. */
export interface LimiterEvents<Subject> {
  /** A charge was denied (in report mode too). */
  limited: [decision: Decision, subject: Subject]
  /** The store could not tell; what happened instead is in the decision's `source`. */
  storeError: [error: StoreError]
  /**
   * The store is not asked any more (`open`), is probed by one charge (`half-open`), or works again (`closed`). Once for each change,
   * with what it failed with last.
   */
  storeState: [state: BreakerState, cause: StoreError | undefined]
  /** Counts are gone, or could not be kept: for a while, more than a limit may be let through. */
  limitsLost: [error: StoreError]
  /** Units could not be given back: a `count` function threw, or the store failed. They stay taken. */
  refundFailed: [error: unknown, decision: Decision]
}

/** Emits that a charge was denied. */
export function emitLimited<Subject>(events: Events<Subject>, decision: Decision, subject: Subject): void {
  emit(events, 'limited', [decision, subject])
}

/** Emits that the store failed; where nobody listens, it is a process warning, once. */
export function emitStoreError<Subject>(events: Events<Subject>, error: StoreError): void {
  if (emit(events, 'storeError', [error])) return
  warnOnce(
    'HEADGATE_STORE_ERROR',
    `headgate: the store could not decide a request (${error.message}). ${mend('storeError')}`,
  )
}

/** Emits that the store is asked no more, or again. */
export function emitStoreState<Subject>(
  events: Events<Subject>,
  state: BreakerState,
  cause: StoreError | undefined,
): void {
  emit(events, 'storeState', [state, cause])
}

/** Emits that counts are gone; where nobody listens, it is a process warning, once. */
export function emitLimitsLost<Subject>(events: Events<Subject>, error: StoreError): void {
  if (emit(events, 'limitsLost', [error])) return
  warnOnce('HEADGATE_LIMITS_LOST', `headgate: limits were lost (${error.message}). ${mend('limitsLost')}`)
}

/** Emits that units could not be given back; where nobody listens, it is a process warning, once. */
export function emitRefundFailed<Subject>(events: Events<Subject>, error: unknown, decision: Decision): void {
  if (emit(events, 'refundFailed', [error, decision])) return
  warnOnce(
    'HEADGATE_REFUND_FAILED',
    `headgate: units could not be given back (${messageOf(error)}). ${mend('refundFailed')}`,
  )
}

type Events<Subject> = EventEmitter<LimiterEvents<Subject>>

/** Emits, and tells whether anybody listens. A listener that throws must not decide a request: it is told once as a warning. */
export function emit<Events extends Record<keyof Events, unknown[]>, Name extends keyof Events & string>(
  events: EventEmitter<Events>,
  name: Name,
  args: Events[Name],
): boolean {
  try {
    return (events as EventEmitter).emit(name, ...args)
  } catch (error) {
    warnOnce(
      'HEADGATE_LISTENER_FAILED',
      `headgate: a listener to '${name}' threw (${messageOf(error)}). Mend the listener.`,
    )
    return true
  }
}

function mend(event: string): string {
  return `Listen to limiter.events.on('${event}', …) to be told each time.`
}
