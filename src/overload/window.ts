/** A window closes after this time, if it has enough samples, and after a second otherwise. */
const WINDOW_MS = 100
const PATIENT_MS = 1000
const MIN_SAMPLES = 10

/**
 * It stays open for this many times as long as a request takes without a queue, up to the longest time. A
 * limit that moved more often than it shows an effect would swing.
 */
const LATENCIES = 2.5
const LONGEST_MS = 15_000

/** An event loop is overloaded if it is late by more than this in every measurement of a window. */
const MAX_LOOP_DELAY_MS = 30

/**
 * In a surge, the requests in flight grow within a window by more than this many standard deviations of the
 * number of requests that ended in it.
 */
const SURGE = 3

/** What happened between two changes of an adaptive limit. */
export class Window {
  readonly #startedAtMs: number
  readonly #leastMs: number
  /** How many requests ran at its start. */
  readonly #runningBefore: number
  #ended = 0
  #count = 0
  #sumMs = 0
  #peak = 0
  #leastLoopDelayMs = Number.POSITIVE_INFINITY

  /** Begins a window while `running` requests run. `latencyMs` is how long they take without a queue. */
  constructor(startedAtMs: number, running: number, latencyMs: number) {
    this.#leastMs = Math.min(LONGEST_MS, Math.max(WINDOW_MS, LATENCIES * latencyMs))
    this.#startedAtMs = startedAtMs
    this.#runningBefore = running
  }

  /** A request has ended. `running` is how many requests ran then, including this one. */
  end(running: number): void {
    this.#ended++
    if (running > this.#peak) this.#peak = running
  }

  /** Adds the latency of a request that has ended. */
  add(latencyMs: number): void {
    this.#count++
    this.#sumMs += latencyMs
  }

  /** Records how late the event loop was. */
  addLoopDelay(delayMs: number): void {
    if (delayMs < this.#leastLoopDelayMs) this.#leastLoopDelayMs = delayMs
  }

  /** How many requests ended. */
  get ended(): number {
    return this.#ended
  }

  /** How many latencies were added. */
  get count(): number {
    return this.#count
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** The most requests that ran at once. */
  get peak(): number {
    return this.#peak
  }

  /** The mean latency. */
  get meanMs(): number {
    return this.#sumMs / this.#count
  }

  /**
   * The part of the limit that the event loop can serve: less than 1 if it is overloaded, at least a half.
   */
  get loopFactor(): number {
    if (this.#leastLoopDelayMs === Number.POSITIVE_INFINITY) return 1
    return Math.min(1, Math.max(0.5, MAX_LOOP_DELAY_MS / this.#leastLoopDelayMs))
  }

  get hasEnoughSamples(): boolean {
    return this.#count >= MIN_SAMPLES
  }

  isOver(nowMs: number): boolean {
    const ageMs = nowMs - this.#startedAtMs
    return ageMs >= this.#leastMs && (this.hasEnoughSamples || ageMs >= PATIENT_MS)
  }

  /** Returns whether it ends in a surge. `running` is how many requests run now. */
  isSurge(running: number): boolean {
    return running - this.#runningBefore > SURGE * Math.sqrt(this.#count)
  }
}
