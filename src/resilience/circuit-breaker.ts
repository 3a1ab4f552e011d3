import type { StoreError } from '../stores/store-error.js'

/** `'closed'`: every call reaches the store; `'open'`: none does; `'half-open'`: one probes it. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** All states, the worse the later. */
export const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half-open', 'open']

/** Counts the changes of state: the outcome of a call counts only in the generation that admitted it. */
export type Generation = number

/** Called at each change of state, with the store's last error while the breaker is not closed. */
export type OnBreakerChange = (state: BreakerState, cause: StoreError | undefined) => void

const MAX_FAILURES_IN_A_ROW = 5
/** Time-outs this close together count as one failure in a row: they have one reason. */
const TIMEOUT_BURST_MS = 10
/** The breaker opens when at least half of the calls in about a second fail, if there are this many. */
const MIN_CALLS = 20
const RATE_WINDOW_MS = 1000
/** At most this many earlier calls count in a new window: a burst of successes must not hide an outage. */
const MAX_EARLIER_CALLS = 100
/** The longest time open; the shortest is half of it. Random, so that processes do not probe in step. */
const MAX_OPEN_MS = 1000

/**
 * Creates a circuit breaker, which keeps calls away from a store that fails, so that requests do not wait
 * for it. It opens after five failures in a row, or when half of the calls are failures. After 0.5 to 1 s
 * it is half-open and admits one call, the probe: the breaker closes if that succeeds, else it opens again.
 */
export function circuitBreaker(onChange: OnBreakerChange) {
  let state: BreakerState = 'closed'
  let cause: StoreError | undefined
  let generation: Generation = 1
  let failuresInARow = 0
  let failures = 0
  let calls = 0
  let windowStartMs = 0
  let lastBurstMs = Number.NEGATIVE_INFINITY
  let probeAtMs = 0
  const waiting: (() => void)[] = []

  function changeTo(next: BreakerState, error?: StoreError): void {
    state = next
    cause = error
    generation++
    failuresInARow = 0
    failures = 0
    calls = 0
    onChange(next, error)
    for (const resolve of waiting.splice(0)) resolve()
  }

  function countFailure(isTimeout: boolean): void {
    const nowMs = performance.now()
    if (nowMs - windowStartMs > RATE_WINDOW_MS) {
      windowStartMs = nowMs
      failures = 0
      calls = Math.min(calls, MAX_EARLIER_CALLS)
    }
    if (!isTimeout || nowMs - lastBurstMs > TIMEOUT_BURST_MS) {
      failuresInARow++
      lastBurstMs = nowMs
    }
    failures++
    calls++
  }

  function isFailing(): boolean {
    return failuresInARow >= MAX_FAILURES_IN_A_ROW || (calls >= MIN_CALLS && failures >= calls / 2)
  }

  return {
    get state(): BreakerState {
      return state
    },
    /** The store's last error, while the breaker is not closed. */
    get cause(): StoreError | undefined {
      return cause
    },
    /** Admits a call whose outcome must be recorded. Returns `undefined` if the store must not be called. */
    admit(): Generation | undefined {
      if (state === 'closed') return generation
      if (state === 'half-open' || performance.now() < probeAtMs) return undefined
      changeTo('half-open', cause)
      return generation
    },
    /** Resolves at the next change of state: while half-open, when the outcome of the probe is known. */
    nextChange: () => new Promise<void>((resolve) => waiting.push(resolve)),
    recordSuccess(of: Generation): void {
      if (of !== generation) return
      failuresInARow = 0
      calls++
      if (state === 'half-open') changeTo('closed')
    },
    recordFailure(of: Generation, error: StoreError, isTimeout = false): void {
      if (of !== generation) return
      countFailure(isTimeout)
      if (state === 'closed' && !isFailing()) return
      probeAtMs = performance.now() + MAX_OPEN_MS * (0.5 + Math.random() / 2)
      changeTo('open', error)
    },
  }
}
