/** The classes of requests, the least important first. */
export const PRIORITIES = ['bulk', 'default', 'critical'] as const

/** How important a request is. The lowest is denied first. */
export type Priority = (typeof PRIORITIES)[number]

/** Cohorts of clients in each class, as in Uber's Cinnamon. */
const COHORTS = 128
const RANKS = PRIORITIES.length * COHORTS

/** A client stays in its cohort for this time. Clients change at different times. */
const COHORT_MS = 10_000

/** A window closes after this time, with this many arrivals, or after the longer time. */
const WINDOW_MS = 200
const MIN_ARRIVALS = 20
const LONGEST_WINDOW_MS = 1000

/** How much of the past arrivals the histogram keeps from window to window. */
const DECAY = 0.8

/** While nobody was denied for want of a place for this time, no ranks are read. */
const CALM_MS = 5000

/** Slightly more pass than places were found for, so that every place is used. */
const OVERSHOOT = 1.08

/**
 * Decides early which requests of an overloaded server are denied: the lowest classes first and, within a
 * class, whole cohorts of clients. So a client is either served or not for some seconds, and the retries of
 * those that are denied take no places from those that are served. The share that passes follows from what
 * found a place in the last windows, and not from a queue that fills and empties, so it is steady.
 */
export class Cohorts {
  /** Requests a millisecond that are to pass. */
  #rate = Number.POSITIVE_INFINITY
  /** Requests below this rank are denied. */
  #threshold = 0
  /** Arrivals by rank, and the time in which they arrived. The past counts less and less. */
  readonly #arrivals = new Float64Array(RANKS)
  #arrivedInMs = 0
  #windowAtMs = 0
  #arrived = 0
  #passed = 0
  #admitted = 0
  #peak = 0
  #overflowedAtMs = Number.NEGATIVE_INFINITY
  #share = 1

  /** The share of the requests of the last window that passed. */
  get share(): number {
    return this.#share
  }

  /** Returns whether a request passes. `hash` is of its client, 32 bits. */
  passes(priority: number, hash: number, nowMs: number): boolean {
    this.#arrived++
    if (!this.#isActive(nowMs)) {
      this.#passed++
      return true
    }
    const rank = priority * COHORTS + cohortOf(hash, nowMs)
    this.#arrivals[rank] = (this.#arrivals[rank] as number) + 1
    if (rank < this.#threshold) return false
    this.#passed++
    return true
  }

  /** A request found a place, while so many run. */
  admitted(running: number): void {
    this.#admitted++
    if (running > this.#peak) this.#peak = running
  }

  /** A request that passed found no place in time. */
  overflowed(nowMs: number): void {
    this.#overflowedAtMs = nowMs
  }

  /** Closes the window if it is over. */
  advance(nowMs: number, limit: number): void {
    const ageMs = nowMs - this.#windowAtMs
    if (ageMs < WINDOW_MS || (this.#arrived < MIN_ARRIVALS && ageMs < LONGEST_WINDOW_MS)) return
    this.#share = this.#arrived === 0 ? 1 : this.#passed / this.#arrived
    if (this.#isActive(nowMs)) this.#adjust(ageMs, limit)
    else this.#reset()
    this.pause(nowMs)
  }

  /** Begins a new window, as while a probe keeps requests out. */
  pause(nowMs: number): void {
    this.#windowAtMs = nowMs
    this.#arrived = this.#passed = this.#admitted = this.#peak = 0
  }

  #isActive(nowMs: number): boolean {
    return this.#threshold > 0 || nowMs - this.#overflowedAtMs < CALM_MS
  }

  #reset(): void {
    this.#rate = Number.POSITIVE_INFINITY
    this.#arrivals.fill(0)
    this.#arrivedInMs = 0
  }

  #adjust(ageMs: number, limit: number): void {
    this.#arrivedInMs += ageMs
    const isShort = this.#passed - this.#admitted > Math.max(1, this.#passed / 100)
    const passing = this.#passed / ageMs
    const fitting = (this.#admitted / ageMs) * OVERSHOOT
    if (isShort) this.#rate = this.#rate === Number.POSITIVE_INFINITY ? fitting : (this.#rate + fitting) / 2
    else this.#rate = Math.max(this.#rate, passing) * (this.#peak < 0.7 * limit ? 1.5 : 1.02)
    this.#threshold = this.#thresholdFor(this.#rate * this.#arrivedInMs)
    for (let rank = 0; rank < RANKS; rank++) this.#arrivals[rank] = (this.#arrivals[rank] as number) * DECAY
    this.#arrivedInMs *= DECAY
  }

  /** Returns the highest rank at which at least so many of the arrivals pass. */
  #thresholdFor(count: number): number {
    let passing = 0
    for (let rank = RANKS - 1; rank > 0; rank--) {
      passing += this.#arrivals[rank] as number
      if (passing >= count) return rank
    }
    return 0
  }
}

/** Returns the cohort of a client now. */
function cohortOf(hash: number, nowMs: number): number {
  const turn = Math.floor((nowMs + ((hash >>> 16) / 0x10000) * COHORT_MS) / COHORT_MS)
  let mixed = Math.imul(hash ^ Math.imul(turn, 0x9e3779b1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) & (COHORTS - 1)
}
