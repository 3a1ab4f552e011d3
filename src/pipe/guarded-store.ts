import type { Operation, Result } from '../stores/operation.js'
import { publishToStoreChannel, type StoreOperation, storeChannel } from '../stores/shared/store-channel.js'
import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../stores/store.js'
import { asStoreError, atServer, StoreError } from '../stores/store-error.js'
import { fromCallback, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { Deadlines, TimeoutError } from '../util/timeout.js'
import type { BreakerState } from './breaker-state.js'
import type { Admission, Generation, OnBreakerChange } from './circuit-breaker.js'
import { performPerServer } from './per-server.js'
import { serverBreakers } from './server-breakers.js'
import { type Call, type OnLateVerdict, type OnVerdict, operationsOf, PENDING } from './store-operations.js'

/** Takes the result of a call, or why there is none. */
export type Settle<Outcome> = (outcome: Outcome | StoreError) => void

/** A store that decides one charge a call, and fails with `StoreError` only. */
export interface GuardedStore {
  readonly name: string
  /** The worst state of the circuit breakers of its servers, or of those that keep `keys`. */
  state(keys?: readonly KeyedPolicy[]): BreakerState
  /** Returns `key`, and a similar one on each other server whose circuit breaker is not closed. */
  probeKeys(key: string): readonly string[]
  /**
   * Decides a charge. Returns the outcome if it is known at once; else nothing, and calls `settle` with it,
   * once, later. Never throws. Takes a callback, since a promise here would be one more for each decision.
   */
  charge(charge: Charge, settle: Settle<Verdict>): Verdict | StoreError | undefined
  refund(refunds: readonly Refund[]): MaybePromise<void>
  /**
   * Renews held units as the store does, which must be able to. Calls `onLate` with the outcome if that comes
   * after the time-out.
   */
  renew(units: Refund, onLate?: Settle<number>): MaybePromise<number>
  forget(keys: readonly KeyedPolicy[]): MaybePromise<void>
  /** Applies one operation. `undefined` where the store has no `apply`. */
  readonly change: ((operation: Operation) => MaybePromise<Result>) | undefined
  /** Waits for pending calls, and closes what the store opened itself, each for the time-out at most. */
  close(): Promise<void>
}

/** Rejects a call that the circuit breaker kept away from the store, or from the server that it needs. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, { cause, server }: Pick<Admission, 'cause' | 'server'>) {
    const which = server === undefined ? '' : ` of ${server}`
    const message = `the circuit breaker${which} is open after repeated failures (${cause?.message})`
    super(store, message, { cause, server, unsent: true })
  }
}

/** How a store is guarded. */
export interface GuardOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
  readonly onVerdict?: OnVerdict
  /** Called with each verdict that came after the time-out: no decision has what it took. */
  readonly onLateVerdict?: OnLateVerdict | undefined
}

/**
 * Creates the guard of a store: validates its verdicts, and bounds each call by a time-out and the circuit
 * breakers of the servers that it needs. An answer after the time-out decides nothing: the units that it took
 * stay taken, unless `onLateVerdict` releases them. A synchronous store needs no promise and no timer.
 *
 * Any number of calls that arrive while a probe is pending wait for its outcome, within their own time-out:
 * charges and peeks, so that the store decides the first burst after an outage; refunds and `forget` as well.
 * A call whose time-out ends that wait is never sent.
 */
export function guardStore(store: Store, options: GuardOptions): GuardedStore {
  const { isPublished = true, timeoutMs, onChange = () => {} } = options
  const origin = { limiter: options.limiter, instance: {}, store: store.name }
  const breakers = serverBreakers(store, (...change) => {
    const [state, cause, server] = change
    const message = { type: 'state', ...origin, state, cause } as const
    if (isPublished) publishToStoreChannel(server === undefined ? message : { ...message, server })
    onChange(...change)
  })
  const deadlines = new Deadlines(timeoutMs)
  const { charging, refunding, renewing, forgetting, applying } = operationsOf(store, options)

  function run<Item, Outcome>(operation: Call<Item, Outcome>, item: Item, settle: Settle<Outcome>) {
    const breaker = breakers.of(operation.keysOf(item))
    const generation = breaker.admit()
    if (generation !== undefined) return send(operation, item, settle, generation)
    if (breaker.state !== 'half-open') return new CircuitOpenError(store.name, breaker)
    sendAfterProbe(operation, item, settle, breaker)
    return undefined
  }

  function send<Item, Outcome>(
    operation: Call<Item, Outcome>,
    item: Item,
    settle: Settle<Outcome>,
    generation: Generation,
  ): Outcome | StoreError | undefined {
    const sentAtMs = performance.now()
    let answer: unknown
    let caller: Settle<Outcome> | undefined = settle // released once settled: it refers to a request
    const settleOnce: Settle<Outcome> = (outcome) => {
      if (caller === undefined) return
      if (isPublished && storeChannel.hasSubscribers) publishCall(operation.name, sentAtMs, outcome)
      caller(outcome)
      caller = undefined
    }
    try {
      answer = operation.send(item, (later) => {
        if (deadlines.stop(deadline)) settleOnce(outcomeOf(operation, item, generation, later, sentAtMs))
        else operation.onLate?.(item, resultOf(operation, item, later))
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
  async function sendAfterProbe<Item, Outcome>(
    operation: Call<Item, Outcome>,
    item: Item,
    settle: Settle<Outcome>,
    breaker: Admission,
  ): Promise<void> {
    const circuitOpen = () => new CircuitOpenError(store.name, breaker)
    let isSent = false
    let isOver = false
    const deadline = deadlines.start(() => {
      isOver = true
      settle(isSent ? asStoreError(store.name, new TimeoutError(timeoutMs)) : circuitOpen())
    })
    const settleInTime: Settle<Outcome> = (outcome) => {
      if (deadlines.stop(deadline)) settle(outcome)
      else if (!isTimeout(outcome)) operation.onLate?.(item, outcome)
    }
    await breaker.nextChange()
    if (isOver) return
    const generation = breaker.state === 'closed' ? breaker.admit() : undefined
    isSent = generation !== undefined
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
  function outcomeOf<Item, Outcome>(
    { read }: Call<Item, Outcome>,
    item: Item,
    generation: Generation,
    answer: unknown,
    sentAtMs?: number,
  ): Outcome | StoreError {
    try {
      if (answer instanceof Error) throw answer
      const result = read(item, answer, sentAtMs)
      generation.recordSuccess((result as Partial<Verdict>).allowed === false)
      return result
    } catch (cause) {
      return recordFailure(cause, generation)
    }
  }

  /** Returns the result read from an answer, or the error that it is, and records neither. */
  function resultOf<Item, Outcome>(
    { read }: Call<Item, Outcome>,
    item: Item,
    answer: unknown,
  ): Outcome | StoreError {
    try {
      if (answer instanceof Error) throw answer
      return read(item, answer, undefined)
    } catch (cause) {
      return asStoreError(store.name, cause)
    }
  }

  /** Returns the error of a failed call, and records it; as a success if the store itself answered. */
  function recordFailure(cause: unknown, generation: Generation): StoreError {
    const error = atServer(asStoreError(store.name, cause), generation.server)
    if (error.answered) generation.recordSuccess(true)
    else generation.recordFailure(error)
    return error
  }

  /** Performs an operation on each server for itself: unlike a charge, it need not be all or nothing. */
  function performEach<Item extends KeyedPolicy>(
    operation: Call<readonly Item[], true>,
    items: readonly Item[],
  ): MaybePromise<void> {
    return performPerServer(store, items, (own) => perform(operation, own))
  }

  function perform<Item>(operation: Call<Item, true>, item: Item): MaybePromise<void> {
    return thenMaybe(
      fromCallback<true>((settle) => run(operation, item, settle)),
      () => {},
    )
  }

  return {
    name: store.name,
    state: (keys) => (keys === undefined ? breakers.state : breakers.of(keys).state),
    probeKeys: breakers.probeKeys,
    charge: (charge, settle) => run(charging, charge, settle),
    refund: (refunds) => performEach(refunding, refunds),
    renew: (units, onLate) => fromCallback<number>((settle) => run(renewing, { units, onLate }, settle)),
    forget: (keys) => performEach(forgetting, keys),
    change:
      store.apply && ((operation) => fromCallback<Result>((settle) => run(applying, operation, settle))),
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

/** Returns whether an outcome is the end of a time-out: the store may have made the call, or may still do so. */
export function isTimeout(outcome: unknown): boolean {
  return outcome instanceof StoreError && outcome.cause instanceof TimeoutError
}
