/**
 * How long a request may wait for a place, by the rule of CoDel (RFC 8289) as Facebook applies it to the
 * queues of servers ("Fail at Scale", 2015). A queue that was empty a moment ago is a burst: requests may
 * wait `intervalMs`. A queue in which every request of the last `intervalMs` waited for more than `targetMs`
 * stands, and waiting does not help: then requests may wait `targetMs`.
 */
export class Codel {
  readonly #targetMs: number
  readonly #intervalMs: number
  /** When a request last waited for less than the target. */
  #shortAtMs = Number.NEGATIVE_INFINITY

  constructor(targetMs: number, intervalMs: number) {
    this.#targetMs = targetMs
    this.#intervalMs = intervalMs
  }

  /** A request has left the queue after this time, or did not have to wait. */
  observe(waitedMs: number, nowMs: number): void {
    if (waitedMs < this.#targetMs) this.#shortAtMs = nowMs
  }

  /** The queue was empty until now. */
  begin(nowMs: number): void {
    this.#shortAtMs = nowMs
  }

  /** Returns the longest time that a request may have waited. */
  maxWaitMs(nowMs: number): number {
    return nowMs - this.#shortAtMs > this.#intervalMs ? this.#targetMs : this.#intervalMs
  }
}
