import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../stores/store.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import { TimeoutError, timeout } from '../util/timeout.js'
import {
  type BreakerState,
  circuitBreaker,
  type Generation,
  type OnBreakerChange,
} from './circuit-breaker.js'
import { validateVerdict } from './validate-verdict.js'

/** A store that decides one charge a call, and throws or rejects with `StoreError` only. */
export interface GuardedStore {
  readonly name: string
  /** The state of its circuit breaker. */
  state(): BreakerState
  charge(charge: Charge): MaybePromise<Verdict>
  refund(refunds: readonly Refund[]): MaybePromise<void>
  forget(keys: readonly KeyedPolicy[]): MaybePromise<void>
  /** Waits for pending calls, and closes what the store opened itself, each for the time-out at most. */
  close(): Promise<void>
}

/** Rejects a call that the circuit breaker kept away from the store. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, cause: StoreError | undefined) {
    super(store, `the circuit breaker is open after repeated failures (${cause?.message})`, { cause })
  }
}

/** One call of the store. `read` validates its answer. */
interface StoreCall<R> {
  readonly send: () => MaybePromise<unknown>
  readonly read: (answer: unknown) => R
}

/** How a store is guarded. */
export interface GuardOptions {
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
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
export function guardStore(store: Store, { timeoutMs, onChange = () => {} }: GuardOptions): GuardedStore {
  const breaker = circuitBreaker(onChange)
  const withTimeout = timeout(timeoutMs)
  const pending = new Set<Promise<unknown>>()

  function run<R>(call: StoreCall<R>): MaybePromise<R> {
    const generation = breaker.admit()
    if (generation !== undefined) return send(call, generation)
    if (breaker.state !== 'half-open') throw new CircuitOpenError(store.name, breaker.cause)
    const outcome = withTimeout(sendAfterProbe(call))
      .catch((cause) => {
        if (breaker.state === 'closed') throw asStoreError(store.name, cause)
        throw new CircuitOpenError(store.name, breaker.cause) // the store was not called
      })
      .finally(() => pending.delete(outcome))
    pending.add(outcome)
    return outcome
  }

  /** Sends a call once the probe has succeeded. The probe was sent first, so it also times out first. */
  async function sendAfterProbe<R>(call: StoreCall<R>): Promise<R> {
    await breaker.nextChange()
    const generation = breaker.state === 'closed' ? breaker.admit() : undefined
    if (generation === undefined) throw new CircuitOpenError(store.name, breaker.cause)
    return send(call, generation)
  }

  function send<R>(call: StoreCall<R>, generation: Generation): MaybePromise<R> {
    try {
      const answer = call.send()
      if (!isPromise(answer)) return readAnswer(call, answer, generation)
      return awaitAnswer(call, Promise.resolve(answer), generation)
    } catch (cause) {
      throw recordFailure(cause, generation)
    }
  }

  async function awaitAnswer<R>(call: StoreCall<R>, answer: Promise<unknown>, generation: Generation) {
    const timed = withTimeout(answer)
    pending.add(timed)
    try {
      return readAnswer(call, await timed, generation)
    } catch (cause) {
      throw recordFailure(cause, generation)
    } finally {
      pending.delete(timed)
    }
  }

  /** Returns the result read from an answer, and records a success. */
  function readAnswer<R>(call: StoreCall<R>, answer: unknown, generation: Generation): R {
    const result = call.read(answer)
    breaker.recordSuccess(generation)
    return result
  }

  /** Returns the error of a failed call, and records it; as a success if the store itself answered. */
  function recordFailure(cause: unknown, generation: Generation): StoreError {
    const error = asStoreError(store.name, cause)
    if (error.answered) breaker.recordSuccess(generation)
    else breaker.recordFailure(generation, error, cause instanceof TimeoutError)
    return error
  }

  return {
    name: store.name,
    state: () => breaker.state,
    charge: (charge) =>
      run({
        send: () => store.charge([charge]),
        read: (answer) => validateVerdict(store, charge, answer),
      }),
    refund: (refunds) => run({ send: () => store.refund(refunds), read: () => {} }),
    forget: (keys) => run({ send: () => store.forget(keys), read: () => {} }),
    async close() {
      await Promise.allSettled(pending)
      await withTimeout(Promise.resolve(store.close?.())).catch((error) => {
        if (!(error instanceof TimeoutError)) throw error
      })
    },
  }
}
