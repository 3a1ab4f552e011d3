import { publishToStoreChannel, type StoreOperation, storeChannel } from '../stores/shared/store-channel.js'
import { type Submit, submitOf } from '../stores/shared/submit.js'
import type { Charge, KeyedPolicy, Refund, StateChange, Store, Verdict } from '../stores/store.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { fromCallback, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { Deadlines, TimeoutError } from '../util/timeout.js'
import {
  type BreakerState,
  circuitBreaker,
  type Generation,
  type OnBreakerChange,
} from './circuit-breaker.js'
import { onlyVerdict, validateTime, validateVerdict } from './validate-verdict.js'

/** Takes the result of a call, or why there is none. */
export type Settle<Result> = (outcome: Result | StoreError) => void

/** A store that decides one charge a call, and fails with `StoreError` only. */
export interface GuardedStore {
  readonly name: string
  /** The state of its circuit breaker. */
  state(): BreakerState
  /**
   * Decides a charge. Returns the outcome if it is known at once; else nothing, and calls `settle` with it,
   * once, later. Never throws. Takes a callback, since a promise here would be one more for each decision.
   */
  charge(charge: Charge, settle: Settle<Verdict>): Verdict | StoreError | undefined
  refund(refunds: readonly Refund[]): MaybePromise<void>
  /** Renews held units as the store does, which must be able to. */
  renew(units: Refund): MaybePromise<number>
  forget(keys: readonly KeyedPolicy[]): MaybePromise<void>
  /** Changes a state. `undefined` where the store has no `update`. */
  readonly update: ((keyed: KeyedPolicy, change: StateChange) => MaybePromise<void>) | undefined
  /** Waits for pending calls, and closes what the store opened itself, each for the time-out at most. */
  close(): Promise<void>
}

/** Rejects a call that the circuit breaker kept away from the store. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, cause: StoreError | undefined) {
    super(store, `the circuit breaker is open after repeated failures (${cause?.message})`, { cause })
  }
}

/** Stands for an answer that comes later; a store may answer anything, also `undefined`. */
const PENDING = Symbol('pending')

/** What the guard does with the store. */
interface Operation<Item, Result> {
  readonly name: StoreOperation
  /** Returns the answer if it is known at once; else `PENDING`, and calls `settle` with it later. */
  readonly send: (item: Item, settle: (answer: unknown) => void) => unknown
  /** Validates an answer. `sentAtMs` is `undefined` for one that was known at once. */
  readonly read: (item: Item, answer: unknown, sentAtMs: number | undefined) => Result
}

/** A change of one key's state. */
interface Update {
  readonly keyed: KeyedPolicy
  readonly change: StateChange
}

/** How a store is guarded. */
export interface GuardOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
  /** Called with each verdict that had to be awaited; `sentAtMs` is by `performance.now()`. */
  readonly onVerdict?: (charge: Charge, verdict: Verdict, sentAtMs: number) => void
}

/**
 * Creates the guard of a store: validates its verdicts, and bounds each call by a time-out and a circuit
 * breaker. An answer after the time-out is ignored: the units that it took stay taken. A synchronous store
 * needs no promise and no timer.
 *
 * Any number of calls that arrive while a probe is pending wait for its outcome, within their own time-out:
 * charges and peeks, so that the store decides the first burst after an outage; refunds and `forget`, too,
 * since they are not retried.
 */
export function guardStore(store: Store, options: GuardOptions): GuardedStore {
  const { isPublished = true, timeoutMs, onChange = () => {}, onVerdict = () => {} } = options
  const origin = { limiter: options.limiter, instance: {}, store: store.name }
  const breaker = circuitBreaker((state, cause) => {
    if (isPublished) publishToStoreChannel({ type: 'state', ...origin, state, cause })
    onChange(state, cause)
  })
  const deadlines = new Deadlines(timeoutMs)
  const submit = submitOf(store)
  const validate = submit ? validateVerdict : onlyVerdict

  const charging: Operation<Charge, Verdict> = {
    name: 'charge',
    send: submit ? pending(submit) : callbackOf((charge) => store.charge([charge])),
    read(charge, answer, sentAtMs) {
      const verdict = validate(store, charge, answer)
      if (sentAtMs !== undefined) onVerdict(charge, verdict, sentAtMs)
      return verdict
    },
  }
  const renewing: Operation<Refund, number> = {
    name: 'renew',
    send: callbackOf((units) => store.renew?.(units)),
    read: (_units, answer) => validateTime(store, answer),
  }
  const readNothing = () => true as const
  const refunding = {
    name: 'refund' as const,
    send: callbackOf((refunds: readonly Refund[]) => store.refund(refunds)),
    read: readNothing,
  }
  const forgetting = {
    name: 'forget' as const,
    send: callbackOf((keys: readonly KeyedPolicy[]) => store.forget(keys)),
    read: readNothing,
  }

  const updating = {
    name: 'update' as const,
    send: callbackOf(({ keyed, change }: Update) => (store as Required<Store>).update(keyed, change)),
    read: readNothing,
  }

  /** Makes a callback of the promise that a call may return. */
  function callbackOf<Item>(call: (item: Item) => unknown): Operation<Item, unknown>['send'] {
    return (item, settle) => {
      const answer = call(item)
      if (!isPromise(answer)) return answer
      Promise.resolve(answer).then(settle, (cause) => settle(asStoreError(store.name, cause)))
      return PENDING
    }
  }

  function run<Item, Result>(operation: Operation<Item, Result>, item: Item, settle: Settle<Result>) {
    const generation = breaker.admit()
    if (generation !== undefined) return send(operation, item, settle, generation)
    if (breaker.state !== 'half-open') return circuitOpen()
    sendAfterProbe(operation, item, settle)
    return undefined
  }

  function send<Item, Result>(
    operation: Operation<Item, Result>,
    item: Item,
    settle: Settle<Result>,
    generation: Generation,
  ): Result | StoreError | undefined {
    const sentAtMs = performance.now()
    let answer: unknown
    let caller: Settle<Result> | undefined = settle // released once settled: it refers to a request
    const settleOnce: Settle<Result> = (outcome) => {
      if (caller === undefined) return
      if (isPublished && storeChannel.hasSubscribers) publishCall(operation.name, sentAtMs, outcome)
      caller(outcome)
      caller = undefined
    }
    try {
      answer = operation.send(item, (later) => {
        if (deadlines.stop(deadline)) settleOnce(outcomeOf(operation, item, generation, later, sentAtMs))
      })
    } catch (cause) {
      answer = asStoreError(store.name, cause)
    }
    if (answer !== PENDING) {
      const outcome = outcomeOf(operation, item, generation, answer)
      if (isPublished && storeChannel.hasSubscribers) publishCall(operation.name, sentAtMs, outcome)
      return outcome
    }
    const expire = () => settleOnce(recordFailure(new TimeoutError(timeoutMs), generation))
    const deadline = deadlines.start(expire, sentAtMs)
    return undefined
  }

  /** Sends an item once the probe has succeeded. The probe was sent first, so it also times out first. */
  async function sendAfterProbe<Item, Result>(
    operation: Operation<Item, Result>,
    item: Item,
    settle: Settle<Result>,
  ): Promise<void> {
    const failure = () =>
      breaker.state === 'closed' ? asStoreError(store.name, new TimeoutError(timeoutMs)) : circuitOpen()
    const deadline = deadlines.start(() => settle(failure()))
    const settleInTime: Settle<Result> = (outcome) => {
      if (deadlines.stop(deadline)) settle(outcome)
    }
    await breaker.nextChange()
    const generation = breaker.state === 'closed' ? breaker.admit() : undefined
    const known = generation ? send(operation, item, settleInTime, generation) : circuitOpen()
    if (known !== undefined) settleInTime(known)
  }

  function publishCall(operation: StoreOperation, sentAtMs: number, outcome: unknown): void {
    publishToStoreChannel({
      type: 'call',
      ...origin,
      operation,
      durationMs: performance.now() - sentAtMs,
      ...(outcome instanceof StoreError && { error: outcome }),
    })
  }

  /** Returns the result read from an answer, or the error that it is; records which. */
  function outcomeOf<Item, Result>(
    { read }: Operation<Item, Result>,
    item: Item,
    generation: Generation,
    answer: unknown,
    sentAtMs?: number,
  ): Result | StoreError {
    try {
      if (answer instanceof Error) throw answer
      const result = read(item, answer, sentAtMs)
      breaker.recordSuccess(generation)
      return result
    } catch (cause) {
      return recordFailure(cause, generation)
    }
  }

  /** Returns the error of a failed call, and records it; as a success if the store itself answered. */
  function recordFailure(cause: unknown, generation: Generation): StoreError {
    const error = asStoreError(store.name, cause)
    if (error.answered) breaker.recordSuccess(generation)
    else breaker.recordFailure(generation, error, cause instanceof TimeoutError)
    return error
  }

  /** Returns the error of a call that the breaker keeps from the store. */
  function circuitOpen(): StoreError {
    return new CircuitOpenError(store.name, breaker.cause)
  }

  function perform<Item>(operation: Operation<Item, true>, item: Item): MaybePromise<void> {
    return thenMaybe(
      fromCallback<true>((settle) => run(operation, item, settle)),
      () => {},
    )
  }

  return {
    name: store.name,
    state: () => breaker.state,
    charge: (charge, settle) => run(charging, charge, settle),
    refund: (refunds) => perform(refunding, refunds),
    renew: (units) => fromCallback<number>((settle) => run(renewing, units, settle)),
    forget: (keys) => perform(forgetting, keys),
    update: store.update && ((keyed, change) => perform(updating, { keyed, change })),
    async close() {
      await deadlines.idle()
      try {
        await deadlines.limit(Promise.resolve(store.close?.()))
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
      } finally {
        publishToStoreChannel({ type: 'close', ...origin })
      }
    },
  }
}

function pending(submit: Submit): Operation<Charge, Verdict>['send'] {
  return (charge, settle) => {
    submit(charge, settle)
    return PENDING
  }
}
