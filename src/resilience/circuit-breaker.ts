import type { StoreError } from '../stores/store-error.js'

/** Whether a store is asked: always, not at all, or by one charge that probes it. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** A circuit breaker: asks nothing of a store that fails, so that an outage costs a request next to nothing. */
export interface Breaker {
  readonly state: BreakerState
  /** Why it is not closed. */
  readonly cause: StoreError | undefined
  /** Lets a charge through, which has to tell how it went; `undefined` where the store may not be asked now. */
  admit(): Turn | undefined
  /** Resolves at the next change of state: while it is half-open, when the outcome of its probe is known. */
  probed(): Promise<void>
  succeeded(turn: Turn): void
  /** Those that ran out of time at one moment are `isOneOfMany`: together they count as one in a row. */
  failed(turn: Turn, error: StoreError, isOneOfMany?: boolean): void
}

/** A number for all that is asked between two changes of state: what was asked before a change has no say in the next one. */
export type Turn = number

/** Hears of each change, with what the store failed with where it is not closed. */
export type OnBreakerChange = (state: BreakerState, cause: StoreError | undefined) => void

/** So many failures in a row open it. */
const FAILURES_IN_A_ROW = 5
/** What runs out of time within so long does so for one reason. */
const MOMENT_MS = 10
/** Or half of at least so many answers, counted for about a second. */
const MIN_ANSWERS = 20
const COUNTED_MS = 1000
/** And so many of those before it, so that a few failures at one moment are not all that is known. */
const CARRIED_ANSWERS = 100
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
  let present: Turn = 1
  let momentMs = Number.NEGATIVE_INFINITY
  let changed: Promise<void> | undefined
  let announce = () => {}

  function change(next: BreakerState, why?: StoreError): void {
    state = next
    cause = why
    present++
    failuresInARow = 0
    failures = 0
    answers = 0
    onChange(next, why)
    announce()
    changed = undefined
  }

  /** Counts a failure, and tells whether it is one too many. */
  function isTooMany(isOneOfMany: boolean): boolean {
    const nowMs = performance.now()
    if (nowMs - countedFromMs > COUNTED_MS) {
      countedFromMs = nowMs
      failures = 0
      answers = Math.min(answers, CARRIED_ANSWERS)
    }
    if (!isOneOfMany || nowMs - momentMs > MOMENT_MS) {
      failuresInARow++
      momentMs = nowMs
    }
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
    admit() {
      if (state === 'closed') return present
      if (state === 'half-open' || performance.now() < probeAtMs) return undefined
      change('half-open', cause)
      return present
    },
    probed() {
      changed ??= new Promise((resolve) => {
        announce = resolve
      })
      return changed
    },
    succeeded(turn) {
      if (turn !== present) return
      failuresInARow = 0
      answers++
      if (state === 'half-open') change('closed')
    },
    failed(turn, error, isOneOfMany = false) {
      if (turn !== present || (state === 'closed' && !isTooMany(isOneOfMany))) return
      probeAtMs = performance.now() + OPEN_MS * (0.5 + Math.random() / 2)
      change('open', error)
    },
  }
}
