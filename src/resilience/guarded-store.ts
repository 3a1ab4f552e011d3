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
  /** The time-out runs from `sinceMs` (of `performance.now()`), which is now by default. */
  charge(charge: Charge, sinceMs?: number): MaybePromise<Verdict>
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

/** The least share of the time-out that the store gets, however slow the key functions were. */
const MIN_TIMEOUT_SHARE = 0.25

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
 * breaker. An answer after the time-out is dropped: what it took stays taken. A synchronous store costs no promise and no timer.
 *
 * Calls that arrive while a probe is pending wait for its outcome, each until its own time-out: charges and
 * peeks, so that the store decides the first burst after an outage; refunds and `forget` as well, since
 * nothing repeats them.
 */
export function guardStore(store: Store, { timeoutMs, onChange = () => {} }: GuardOptions): GuardedStore {
  const breaker = circuitBreaker(onChange)
  const inTime = timeout(timeoutMs)
  const pending = new Set<Promise<unknown>>()

  function run<R>(call: StoreCall<R>, budgetMs = timeoutMs): MaybePromise<R> {
    const generation = breaker.admit()
    if (generation !== undefined) return send(call, budgetMs, generation)
    if (breaker.state !== 'half-open') throw new CircuitOpenError(store.name, breaker.cause)
    const outcome = sendAfterProbe(call, budgetMs).finally(() => pending.delete(outcome))
    pending.add(outcome)
    return outcome
  }

  /** Sends a call once the probe has succeeded, with what is left of its time. */
  async function sendAfterProbe<R>(call: StoreCall<R>, budgetMs: number): Promise<R> {
    const { cause } = breaker
    const sinceMs = performance.now()
    await timeout(budgetMs)(breaker.nextChange()).catch(() => {})
    const leftMs = budgetMs - Math.round(performance.now() - sinceMs)
    const generation = breaker.state === 'closed' && leftMs > 0 ? breaker.admit() : undefined
    if (generation === undefined) throw new CircuitOpenError(store.name, breaker.cause ?? cause)
    return send(call, leftMs, generation)
  }

  function send<R>(call: StoreCall<R>, budgetMs: number, generation: Generation): MaybePromise<R> {
    let outcome: Promise<R>
    try {
      const answer = call.send()
      if (!isPromise(answer)) return readAnswer(call, answer, generation)
      outcome = awaitAnswer(call, Promise.resolve(answer), generation)
    } catch (cause) {
      throw recordFailure(cause, generation)
    }
    if (budgetMs === timeoutMs) return outcome
    return timeout(budgetMs)(outcome).catch((cause) => {
      throw asStoreError(store.name, cause)
    })
  }

  /** The breaker gives the store all of `timeoutMs`, also where the caller has less of it left. */
  async function awaitAnswer<R>(call: StoreCall<R>, answer: Promise<unknown>, generation: Generation) {
    const timed = inTime(answer)
    pending.add(timed)
    try {
      return readAnswer(call, await timed, generation)
    } catch (cause) {
      throw recordFailure(cause, generation)
    } finally {
      pending.delete(timed)
    }
  }

  /** Returns what was read of an answer, and counts a success. */
  function readAnswer<R>(call: StoreCall<R>, answer: unknown, generation: Generation): R {
    const result = call.read(answer)
    breaker.recordSuccess(generation)
    return result
  }

  /** Returns what a failed call rejects with, and counts it; an answered error is no failure of the store. */
  function recordFailure(cause: unknown, generation: Generation): StoreError {
    const error = asStoreError(store.name, cause)
    if (error.answered) breaker.recordSuccess(generation)
    else breaker.recordFailure(generation, error, cause instanceof TimeoutError)
    return error
  }

  function budgetSince(sinceMs: number): number {
    const leftMs = timeoutMs - Math.round(performance.now() - sinceMs)
    return Math.max(Math.ceil(timeoutMs * MIN_TIMEOUT_SHARE), leftMs)
  }

  return {
    name: store.name,
    state: () => breaker.state,
    charge(charge, sinceMs) {
      const call = {
        send: () => store.charge([charge]),
        read: (answer: unknown) => validateVerdict(store, charge, answer),
      }
      return run(call, sinceMs === undefined ? timeoutMs : budgetSince(sinceMs))
    },
    refund: (refunds) => run({ send: () => store.refund(refunds), read: () => {} }),
    forget: (keys) => run({ send: () => store.forget(keys), read: () => {} }),
    async close() {
      await Promise.allSettled(pending)
      await inTime(Promise.resolve(store.close?.())).catch((error) => {
        if (!(error instanceof TimeoutError)) throw error
      })
    },
  }
}
