import type { Operation, Outcome, ResultOf } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { OnBreakerChange } from './circuit-breaker.js'

/** Called with the result of an operation, or the error in its place. */
export type Settle<O extends Operation> = (outcome: ResultOf<O> | StoreError) => void

/** Called with an outcome that comes after the time-out. */
export type OnLate<O extends Operation = Operation> = (
  outcome: ResultOf<O> | StoreError,
  operation: O,
) => void

/** The outcome of an operation, if it is known at once. */
export type ImmediateOutcome<O extends Operation> = ResultOf<O> | StoreError | undefined

/** A way to a store, one operation at a time. */
export interface Pipe {
  /**
   * Sends an operation. Returns the outcome if it is known at once. Otherwise returns `undefined`, and
   * calls `settle` with the outcome, once, later. Never throws. It takes a callback because a promise would
   * cost one more allocation for each decision. If the outcome comes after a time-out, it goes to `onLate`
   * instead.
   */
  send<O extends Operation>(operation: O, settle: Settle<O>, onLate?: OnLate<O>): ImmediateOutcome<O>
}

/** A pipe whose refunds outlast an outage. */
export interface RefundingPipe extends Pipe {
  /** Tries once more to send the queued refunds. Those that still cannot be sent are lost. */
  close(): Promise<void>
}

/** How a limiter calls its store. */
export interface PipeOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  /** The longest that a denial is cached. 0 turns the cache off, so that the store decides every charge. */
  readonly denyCacheMs: number
  readonly onChange?: OnBreakerChange
  /** Puts a pipe that tracks the units of undecided requests in front of another one. */
  readonly trackUndecided?: ((pipe: Pipe, store: Store) => Pipe) | undefined
}

/** Called with the outcome of any operation. */
export type SettleAny = (outcome: Outcome) => void

/** `send` as a pipe declares it. It tells operations apart by their type. */
type SendAny = (operation: Operation, settle: SettleAny, onLate?: OnLate) => Outcome | undefined

/** Returns the `send` of a pipe for callers, for whom each outcome has the type of its operation. */
export function sendFor(send: SendAny): Pipe['send'] {
  return send as Pipe['send']
}

/** Sends an operation. Returns its result, or a promise of it; throws or rejects with its error. */
export function request<O extends Operation>(
  pipe: Pipe,
  operation: O,
  onLate?: OnLate<O>,
): MaybePromise<ResultOf<O>> {
  let settle: Settle<O>
  const immediateOutcome = pipe.send(operation, (outcome) => settle(outcome), onLate)
  if (immediateOutcome instanceof Error) throw immediateOutcome
  if (immediateOutcome !== undefined) return immediateOutcome
  return new Promise((resolve, reject) => {
    settle = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))
  })
}
