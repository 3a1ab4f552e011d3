/** The classes of requests, the least important first. */
export const PRIORITIES = ['bulk', 'default', 'critical'] as const

/** The index of the most important class. */
export const CRITICAL = PRIORITIES.length - 1

/** How important a request is. The lowest class is denied first. */
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

/** The target share of passing requests that find no place. It keeps all places in use. */
const OVERFLOW = 0.25

/** The part of a deviation that a window corrects. Correcting all of it would overshoot. */
const GAIN = 0.5

/**
 * Decides early which requests of an overloaded server are denied: the lowest classes first and, within a
 * class, whole cohorts of clients. So a client is either served or not for some seconds, and the retries of
 * those that are denied take no places from those that are served. The share that passes follows from what
 * found a place in the last windows. It is steadier than one that follows a queue, which fills and empties.
 */
export class Cohorts {
  /** Requests below this rank are denied. */
  #threshold = 0
  /** Arrivals by rank. Older windows count less. */
  readonly #arrivals = new Float64Array(RANKS)
  /** Whether a request that passed in the last window found no place in it. */
  #wasShort = false
  #windowAtMs = 0
  #arrived = 0
  #passed = 0
  #admitted = 0
  /** Requests that passed, and left without a place. Waiting ones are not included. */
  #unplaced = 0
  /** The sum, over all admissions, of how many requests ran then. */
  #ran = 0
  #share = 1

  /** The share of the requests of the last window that passed. */
  get share(): number {
    return this.#share
  }

  /** Returns whether requests of a class do not pass, all or some. */
  isDenying(priority: number): boolean {
    return this.#threshold > priority * COHORTS
  }

  /** Whether clients matter: some requests do not pass, or found no place in this window or the last one. */
  get isActive(): boolean {
    return this.#threshold > 0 || this.#wasShort || this.#passed > this.#admitted
  }

  /** Returns whether a request passes. `hash` is of its client, 32 bits. */
  passes(priority: number, hash: number, nowMs: number): boolean {
    this.#arrived++
    if (!this.isActive) {
      this.#passed++
      return true
    }
    const rank = priority * COHORTS + cohortOf(hash, nowMs)
    this.#arrivals[rank] = (this.#arrivals[rank] as number) + 1
    if (rank < this.#threshold) return false
    this.#passed++
    return true
  }

  /** Counts a request that found a place. `running` requests run now, including it. */
  recordAdmission(running: number): void {
    this.#admitted++
    this.#ran += running
  }

  /** Counts a request that passed but found no place in time. */
  recordUnplaced(): void {
    this.#unplaced++
  }

  /** Closes the window if it is over. */
  advance(nowMs: number, limit: number): void {
    const ageMs = nowMs - this.#windowAtMs
    if (ageMs < WINDOW_MS || (this.#arrived < MIN_ARRIVALS && ageMs < LONGEST_WINDOW_MS)) return
    this.#share = this.#arrived === 0 ? 1 : this.#passed / this.#arrived
    this.#wasShort = this.#passed > this.#admitted
    if (this.#arrived > 0) this.#adjust(limit)
    this.pause(nowMs)
  }

  /** Begins a new window without closing the last one, as while a probe keeps requests out. */
  pause(nowMs: number): void {
    this.#windowAtMs = nowMs
    this.#arrived = this.#passed = this.#admitted = this.#unplaced = this.#ran = 0
  }

  /** Lets more requests pass while places are free, and fewer while too many find no place. */
  #adjust(limit: number): void {
    const [arrived, passed, admitted, unplaced] = [
      this.#arrived,
      this.#passed,
      this.#admitted,
      this.#unplaced,
    ]
    const overflow = unplaced === 0 ? 0 : unplaced / (unplaced + admitted)
    const free = admitted === 0 ? 1 : Math.max(0, 1 - this.#ran / admitted / limit)
    const change = Math.max(-0.5, GAIN * (OVERFLOW - overflow) + free ** 2)
    const isSure = arrived / (arrived + MIN_ARRIVALS)
    const total = this.#arrivals.reduce((sum, each) => sum + each, 0)
    this.#move(change * isSure * ((passed + 1) / arrived) * total)
    for (let rank = 0; rank < RANKS; rank++) this.#arrivals[rank] = (this.#arrivals[rank] as number) * DECAY
  }

  /** Moves the threshold so that `more` more of the recent arrivals would have passed. May be negative. */
  #move(more: number): void {
    let left = more
    while (left > 0 && this.#threshold > 0) left -= this.#arrivals[--this.#threshold] as number
    while (left < 0 && this.#threshold < RANKS - 1) {
      left += this.#arrivals[this.#threshold] as number
      if (left > 0) return
      this.#threshold++
    }
  }
}

/** Returns the cohort of a client now. */
function cohortOf(hash: number, nowMs: number): number {
  const turn = Math.floor((nowMs + ((hash >>> 16) / 0x10000) * COHORT_MS) / COHORT_MS)
  let mixed = Math.imul(hash ^ Math.imul(turn, 0x9e3779b1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) & (COHORTS - 1)
}
