/** A queue is standing once it has lasted this many burst waits, and stops being one after the same time. */
const STANDING = 10

/**
 * How long a request may wait for a place. As in CoDel (RFC 8289), a queue is bad if for some time every
 * request has had to wait. As in Facebook's variant for servers ("Fail at Scale", 2015), there are two
 * maximum waits:
 *
 * - A queue that was empty a moment ago is a burst. Requests may wait `burstMs`.
 * - A queue is standing if for some time every request waited `targetMs` or longer. Longer waits do not help
 *   then, so requests may wait only `targetMs`, until none has waited longer for the same time.
 */
export class Codel {
  readonly #targetMs: number
  readonly #burstMs: number
  /** Since when every request has waited `targetMs` or longer; `undefined` if the last one did not. */
  #longSinceMs: number | undefined
  #longAtMs = 0
  #isStanding = false

  constructor(targetMs: number, burstMs: number) {
    this.#targetMs = targetMs
    this.#burstMs = burstMs
  }

  /**
   * Records how long a request waited, whether it got a place or not. It is 0 for one that did not have to
   * wait.
   */
  observe(waitedMs: number, nowMs: number): void {
    if (waitedMs < this.#targetMs) {
      this.#longSinceMs = undefined
    } else {
      this.#longSinceMs ??= nowMs - waitedMs
      this.#longAtMs = nowMs
    }
  }

  /** Records that the queue was empty until now. */
  begin(): void {
    this.#longSinceMs = undefined
  }

  /** Returns the longest time that a request may have waited. */
  maxWaitMs(nowMs: number): number {
    const lastingMs = STANDING * this.#burstMs
    if (this.#isStanding) this.#isStanding = nowMs - this.#longAtMs <= lastingMs
    else this.#isStanding = this.#longSinceMs !== undefined && nowMs - this.#longSinceMs > lastingMs
    return this.#isStanding ? this.#targetMs : this.#burstMs
  }
}
