import { isIsolate } from '../platform.js'
import type { StoreError } from '../stores/store-error.js'
import type { BreakerState } from './breaker-state.js'

/** The period between two changes of state. A call's outcome counts only in the period that admitted it. */
export interface Generation {
  /** The server that was called, if the call needs only one. */
  readonly server: string | undefined
  /** Records a reply. A partial reply, such as a denial, may have come before other servers were asked. */
  recordSuccess(isPartial?: boolean): void
  recordFailure(error: StoreError): void
}

/** Decides whether a call may be sent. */
export interface Admission {
  readonly state: BreakerState
  /** The store's last error, while the breaker is not closed. */
  readonly cause: StoreError | undefined
  /** The server that calls are kept from; `undefined` if the store has one, or does not know which. */
  readonly server: string | undefined
  /** Admits a call whose outcome must be recorded. Returns `undefined` if the store must not be called. */
  admit(): Generation | undefined
  /** Resolves at the next change of state: while half-open, when the outcome of the probe is known. */
  nextChange(): Promise<unknown>
}

/** A circuit breaker of one server, or of a store with one server. */
export interface CircuitBreaker extends Admission {
  /** Whether `admit` would admit a call now. */
  readonly isReady: boolean
  /** How many calls have succeeded. */
  readonly successes: number
}

/** A change of state, with the store's last error while the breaker is not closed. */
export type BreakerChange = [state: BreakerState, cause: StoreError | undefined, server?: string]

export type OnBreakerChange = (...change: BreakerChange) => void

const MAX_FAILURES_IN_A_ROW = 5
/** Failures this close together count as one failure in a row: they have one reason. */
const BURST_MS = 10
/** The breaker opens when at least half of the calls in about a second fail, if there are this many. */
const MIN_CALLS = 20
const RATE_WINDOW_MS = 1000
/** At most this many earlier calls count in a new window: a burst of successes must not hide an outage. */
const MAX_EARLIER_CALLS = 100
/** The longest time open; the shortest is half of it. Random, so that processes do not probe in step. */
const MAX_OPEN_MS = 1000

/**
 * Creates a circuit breaker, which keeps calls away from a server that fails, so that requests do not wait
 * for it. It opens after five failures in a row, or when half of the calls are failures. After 0.5 to 1 s
 * it is half-open and admits one call, the probe. It closes if the probe succeeds, and otherwise opens
 * again. On isolates, a probe whose request ends has no outcome, so another call probes after the same time.
 */
export function circuitBreaker(onChange: OnBreakerChange, server?: string): CircuitBreaker {
  let state: BreakerState = 'closed'
  let cause: StoreError | undefined
  let generation = nextGeneration()
  let successes = 0
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
    generation = nextGeneration()
    failuresInARow = 0
    failures = 0
    calls = 0
    if (server === undefined) onChange(next, error)
    else onChange(next, error, server)
    for (const resolve of waiting.splice(0)) resolve()
  }

  function nextGeneration(): Generation {
    const thisGeneration: Generation = {
      server,
      recordSuccess() {
        if (thisGeneration !== generation) return
        successes++
        failuresInARow = 0
        calls++
        if (state === 'half-open') changeTo('closed')
      },
      recordFailure(error) {
        if (thisGeneration !== generation) return
        countFailure()
        if (state === 'closed' && !isFailing()) return
        startPause()
        changeTo('open', error)
      },
    }
    return thisGeneration
  }

  function countFailure(): void {
    const nowMs = performance.now()
    if (nowMs - windowStartMs > RATE_WINDOW_MS) {
      windowStartMs = nowMs
      failures = 0
      calls = Math.min(calls, MAX_EARLIER_CALLS)
    }
    if (nowMs - lastBurstMs > BURST_MS) {
      failuresInARow++
      lastBurstMs = nowMs
    }
    failures++
    calls++
  }

  function isFailing(): boolean {
    return failuresInARow >= MAX_FAILURES_IN_A_ROW || (calls >= MIN_CALLS && failures >= calls / 2)
  }

  const canProbe = (): boolean => state === 'open' || (state === 'half-open' && isIsolate())
  const isPauseOver = () => canProbe() && performance.now() >= probeAtMs
  const startPause = () => {
    probeAtMs = performance.now() + MAX_OPEN_MS * (0.5 + Math.random() / 2)
  }

  return {
    server,
    get state() {
      return state
    },
    get cause() {
      return cause
    },
    get successes() {
      return successes
    },
    get isReady() {
      return state === 'closed' || isPauseOver()
    },
    admit() {
      if (state === 'closed') return generation
      if (!isPauseOver()) return undefined
      startPause()
      if (state === 'open') changeTo('half-open', cause)
      return generation
    },
    nextChange: () => new Promise<void>((resolve) => waiting.push(resolve)),
  }
}
