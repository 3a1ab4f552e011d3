import type { StoreError } from '../errors.js'

/** Whether a store is asked: always, not at all, or by one charge that probes it. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** A circuit breaker: asks nothing of a store that fails, so that an outage costs a request next to nothing. */
export interface Breaker {
  readonly state: BreakerState
  /** Why it is not closed. */
  readonly cause: StoreError | undefined
  /** Whether the store may be asked now. Who is let through has to tell how it went. */
  admits(): boolean
  succeeded(): void
  failed(error: StoreError): void
}

/** Hears of each change, with what the store failed with where it is not closed. */
export type OnBreakerChange = (state: BreakerState, cause: StoreError | undefined) => void

/** So many failures in a row open it. */
const FAILURES_IN_A_ROW = 5
/** Or half of at least so many answers, counted for about a second. */
const MIN_ANSWERS = 20
const COUNTED_MS = 1000
/** How long it stays open at the most, and half of it at the least, so that processes do not probe all at once. */
const OPEN_MS = 1000

/**
 * Closed until the store fails five times in a row or half of the time, then open for 0.5 to 1 s, then half-open: one charge is let
 * through, and it closes when that succeeds, or is open for as long again.
 */
export function breaker(onChange: OnBreakerChange): Breaker {
  let state: BreakerState = 'closed'
  let cause: StoreError | undefined
  let failuresInARow = 0
  let failures = 0
  let answers = 0
  let countedFromMs = 0
  let probeAtMs = 0

  function change(next: BreakerState, why?: StoreError): void {
    state = next
    cause = why
    failuresInARow = 0
    failures = 0
    answers = 0
    onChange(next, why)
  }

  /** Counts a failure, and tells whether it is one too many. */
  function isTooMany(): boolean {
    const nowMs = performance.now()
    if (nowMs - countedFromMs > COUNTED_MS) {
      countedFromMs = nowMs
      failures = 0
      answers = 0
    }
    failuresInARow++
    failures++
    answers++
    return failuresInARow >= FAILURES_IN_A_ROW || (answers >= MIN_ANSWERS && failures >= answers / 2)
  }

  return {
    get state() {
      return state
    },
    get cause() {
      return cause
    },
    admits() {
      if (state === 'closed') return true
      if (state === 'half-open' || performance.now() < probeAtMs) return false
      change('half-open', cause)
      return true
    },
    succeeded() {
      failuresInARow = 0
      answers++
      if (state === 'half-open') change('closed')
    },
    failed(error) {
      if (state === 'open' || (state === 'closed' && !isTooMany())) return
      probeAtMs = performance.now() + OPEN_MS * (0.5 + Math.random() / 2)
      change('open', error)
    },
  }
}
