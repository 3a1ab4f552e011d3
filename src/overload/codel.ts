/** A queue is standing once it has lasted this many burst waits, and stops being one after the same time. */
const STANDING = 5

/**
 * How long a request may wait for a place. As in CoDel (RFC 8289), a queue is bad if every request has had to
 * wait for a while. As in Facebook's variant for servers ("Fail at Scale", 2015), there are two longest waits.
 * A queue that was empty a moment ago is a burst: requests may wait `burstMs`. A queue in which every request
 * waited for `targetMs` or longer for a while stands, and waiting does not help: then requests may wait
 * `targetMs`, until none has waited longer for the same time.
 */
export class Codel {
  readonly #targetMs: number
  readonly #burstMs: number
  /** Since when every request waited for the target or longer; `undefined` if the last one did not. */
  #longSinceMs: number | undefined
  #longAtMs = 0
  #isStanding = false

  constructor(targetMs: number, burstMs: number) {
    this.#targetMs = targetMs
    this.#burstMs = burstMs
  }

  /** A request has left the queue after this time, with a place or without, or did not have to wait. */
  observe(waitedMs: number, nowMs: number): void {
    if (waitedMs < this.#targetMs) {
      this.#longSinceMs = undefined
    } else {
      this.#longSinceMs ??= nowMs - waitedMs
      this.#longAtMs = nowMs
    }
  }

  /** The queue was empty until now. */
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
