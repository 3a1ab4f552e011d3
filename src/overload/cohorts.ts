import { HeavyCohorts } from './heavy-cohorts.js'
import { RankThreshold } from './rank-threshold.js'

/** The classes of requests, the least important first. */
export const PRIORITIES = ['bulk', 'default', 'critical'] as const

/** The index of the most important class. */
export const CRITICAL = PRIORITIES.length - 1

/** How important a request is. The lowest class is denied first. */
export type Priority = (typeof PRIORITIES)[number]

/** Cohorts of clients in each class, as in Uber's Cinnamon. */
const COHORTS = 128

/** The ranks of a class, lowest first: one for the excess of heavy cohorts, then one for each cohort. */
const CLASS_RANKS = 1 + COHORTS

/** Its multiples, modulo 1, are spread evenly. So is every second or third of them. */
const GOLDEN_RATIO = 0.618_033_988_749_895

/** A client stays in its cohort for this time. Clients change at different times. */
const COHORT_MS = 10_000

/** A window closes after this time if it has this many arrivals, and otherwise after the longer time. */
const WINDOW_MS = 200
const MIN_ARRIVALS = 20
const LONGEST_WINDOW_MS = 1000

/** The target share of passing requests that find no place. It keeps all places in use. */
const OVERFLOW = 0.25

/** The part of a deviation that a window corrects. Correcting all of it would overshoot. */
const GAIN = 0.5

/** What becomes of a request. One that passes last waits behind all others of its class. */
export type CohortVerdict = 'passes' | 'passes last' | 'denied'

/**
 * Decides early which requests of an overloaded server are denied: the lowest classes first. Within a class,
 * the excess of heavy cohorts is denied first, or a part of it, and then whole cohorts of clients. So for
 * some seconds at a time, a client is either served or denied, and the retries of denied clients take no
 * places from served ones. The share that passes follows from how many requests found a place in the last
 * windows. It is steadier than a share that follows a queue, which fills and empties.
 */
export class Cohorts {
  /** Only a rank of excess can be denied in part. */
  readonly #threshold = new RankThreshold(PRIORITIES.length * CLASS_RANKS, (rank) => rank % CLASS_RANKS === 0)
  readonly #heavy = new HeavyCohorts(PRIORITIES.length, COHORTS)
  /** The last in a sequence of numbers from 0 to 1 that decide which requests are excess. */
  #drawn = 0
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

  /**
   * Returns whether some requests of a class are denied. Unless `isExcess` is true, its excess does not
   * count.
   */
  isDenying(priority: number, isExcess = false): boolean {
    return this.#threshold.isDenying(priority * CLASS_RANKS + (isExcess ? 0 : 1))
  }

  /** Whether clients matter: some requests are denied, or found no place in this window or the last one. */
  get isActive(): boolean {
    return this.#threshold.isDenying(0) || this.#wasShort || this.#passed > this.#admitted
  }

  /**
   * Decides about a request. `hash` is a hash of its client, 32 bits. While most places are free, all
   * requests pass, because retries cannot take places from others then.
   */
  decide(priority: number, hash: number, nowMs: number, areMostPlacesFree: boolean): CohortVerdict {
    this.#arrived++
    if (!this.isActive) {
      this.#passed++
      return 'passes'
    }
    const cohort = cohortOf(hash, nowMs)
    const usualShare = this.#heavy.record(priority, cohort)
    this.#drawn = (this.#drawn + GOLDEN_RATIO) % 1
    const isExcess = this.#drawn >= usualShare
    const part = isExcess ? (this.#drawn - usualShare) / (1 - usualShare) : 0
    const passes = this.#threshold.passes(priority * CLASS_RANKS + (isExcess ? 0 : 1 + cohort), part)
    if (!passes && !areMostPlacesFree) return 'denied'
    this.#passed++
    return isExcess ? 'passes last' : 'passes'
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

  /** Closes the window if it is over. `running` requests have a place. */
  advance(nowMs: number, limit: number, running: number): void {
    const ageMs = nowMs - this.#windowAtMs
    if (ageMs < WINDOW_MS || (this.#arrived < MIN_ARRIVALS && ageMs < LONGEST_WINDOW_MS)) return
    this.#share = this.#arrived === 0 ? 1 : this.#passed / this.#arrived
    this.#wasShort = this.#passed > this.#admitted
    this.#adjust(limit, running)
    this.startWindow(nowMs)
  }

  /** Begins a new window without closing the last one, as while a probe keeps requests out. */
  startWindow(nowMs: number): void {
    this.#windowAtMs = nowMs
    this.#arrived = this.#passed = this.#admitted = this.#unplaced = this.#ran = 0
  }

  /** Lets more requests pass while places are free, and fewer while too many find no place. */
  #adjust(limit: number, running: number): void {
    const [arrived, passed, admitted, unplaced] = [
      this.#arrived,
      this.#passed,
      this.#admitted,
      this.#unplaced,
    ]
    const overflow = unplaced === 0 ? 0 : unplaced / (unplaced + admitted)
    const free = admitted === 0 ? 1 : Math.max(0, 1 - this.#ran / admitted / limit)
    const change = Math.max(-0.5, GAIN * (OVERFLOW - overflow) + free ** 2)
    const isIdle = unplaced === 0 && free > 0.5 && running < limit / 2
    const sureness = isIdle ? 1 : arrived / (arrived + MIN_ARRIVALS)
    this.#threshold.move((change * sureness * (passed + 1)) / Math.max(1, arrived))
    this.#heavy.advance()
  }
}

/** Returns the cohort of a client now. */
function cohortOf(hash: number, nowMs: number): number {
  const turn = Math.floor((nowMs + ((hash >>> 16) / 0x10000) * COHORT_MS) / COHORT_MS)
  let mixed = Math.imul(hash ^ Math.imul(turn, 0x9e3779b1), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) & (COHORTS - 1)
}
