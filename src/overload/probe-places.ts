/**
 * A probe lets this share of the limit run at once, which leaves no queue: the limit is less than twice what
 * the server works on. The first one after a start lets as many run as Envoy's does, since the limit is not
 * known yet. No probe lets fewer run.
 */
const PROBE_SHARE = 0.25
const PROBE_LIMIT = 3

/** What runs longer than this, or than so many latencies if that is longer, must be something like a long poll. */
const LONG_MS = 1000
const LONG_LATENCIES = 5

/** How many requests may run at once in a probe. */
export class ProbePlaces {
  #limit = 0
  #places = 0
  /** How many requests from before the probe still run. */
  #leftBehind = 0
  #startedAtMs = 0
  #longMs = LONG_MS
  #periods = 0

  /**
   * Begins a probe, when so many requests run. `latencyMs` is how long they take now. If it is the first one,
   * `limit` says nothing about the server.
   */
  start(limit: number, running: number, latencyMs: number, isFirst: boolean, nowMs: number): void {
    this.#limit = limit
    this.#places = isFirst ? PROBE_LIMIT : Math.max(PROBE_LIMIT, PROBE_SHARE * limit)
    this.#leftBehind = running
    this.#startedAtMs = nowMs
    this.#longMs = Math.max(LONG_MS, LONG_LATENCIES * latencyMs)
    this.#periods = 0
  }

  /** A request from before the probe has ended. */
  end(): void {
    this.#leftBehind--
  }

  advance(nowMs: number): void {
    this.#periods = Math.floor((nowMs - this.#startedAtMs) / this.#longMs)
  }

  /**
   * Requests that began before the probe take its places, because the server still works on them. What runs for
   * long must be something else: it takes no place, or, if it began in the probe, gets others more places.
   */
  get count(): number {
    const others = this.#periods > 0 ? this.#leftBehind : 0
    return Math.min(this.#limit, this.#places * (1 + this.#periods)) + others
  }
}
