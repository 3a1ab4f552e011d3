import { type Submit, submitOf } from '../stores/shared/submit.js'
import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../stores/store.js'
import { asStoreError, StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import { Deadlines, TimeoutError } from '../util/timeout.js'
import {
  type BreakerState,
  circuitBreaker,
  type Generation,
  type OnBreakerChange,
} from './circuit-breaker.js'
import { onlyVerdict, validateVerdict } from './validate-verdict.js'

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
  const { timeoutMs, onChange = () => {}, onVerdict = () => {} } = options
  const breaker = circuitBreaker(onChange)
  const deadlines = new Deadlines(timeoutMs)
  const submit = submitOf(store)

  function run<R>(call: StoreCall<R>): MaybePromise<R> {
    const generation = breaker.admit()
    if (generation !== undefined) return send(call, generation)
    if (breaker.state !== 'half-open') throw new CircuitOpenError(store.name, breaker.cause)
    return deadlines.limit(sendAfterProbe(call)).catch((cause) => {
      if (breaker.state === 'closed') throw asStoreError(store.name, cause)
      throw new CircuitOpenError(store.name, breaker.cause) // the store was not called
    })
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
    try {
      return readAnswer(call, await deadlines.limit(answer), generation)
    } catch (cause) {
      throw recordFailure(cause, generation)
    }
  }

  /** Sends a charge to a store that takes callbacks: one promise for the caller, and none for the store. */
  function submitGuarded(charge: Charge, submit: Submit, generation: Generation): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => reject(recordFailure(cause, generation))
      const deadline = deadlines.start(() => fail(new TimeoutError(timeoutMs)))
      const settle = (outcome: Verdict | Error) => {
        if (!deadlines.stop(deadline)) return
        try {
          if (outcome instanceof Error) throw outcome
          const verdict = validateVerdict(store, charge, outcome)
          breaker.recordSuccess(generation)
          onVerdict(charge, verdict, deadline.dueAtMs - timeoutMs)
          resolve(verdict)
        } catch (cause) {
          fail(cause)
        }
      }
      try {
        submit(charge, settle)
      } catch (cause) {
        settle(asStoreError(store.name, cause))
      }
    })
  }

  /** Returns the call of a store without callbacks. */
  function chargeCall(charge: Charge): StoreCall<Verdict> {
    const sentAtMs = performance.now()
    let isAwaited = false
    return {
      send() {
        const answer = store.charge([charge])
        isAwaited = isPromise(answer)
        return answer
      },
      read(answer) {
        const verdict = onlyVerdict(store, charge, answer)
        if (isAwaited) onVerdict(charge, verdict, sentAtMs)
        return verdict
      },
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
    charge(charge) {
      const generation = submit && breaker.state === 'closed' ? breaker.admit() : undefined
      if (submit === undefined || generation === undefined) return run(chargeCall(charge))
      return submitGuarded(charge, submit, generation)
    },
    refund: (refunds) => run({ send: () => store.refund(refunds), read: () => {} }),
    forget: (keys) => run({ send: () => store.forget(keys), read: () => {} }),
    async close() {
      await deadlines.idle()
      await deadlines.limit(Promise.resolve(store.close?.())).catch((error) => {
        if (!(error instanceof TimeoutError)) throw error
      })
    },
  }
}
