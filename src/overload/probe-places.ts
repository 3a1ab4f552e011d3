/**
 * A probe lets this share of the limit run at once. That leaves no queue, because the limit is less than
 * twice what the server works on. The first probe after a start under overload does not know the limit yet,
 * so it lets only three run, as Envoy's does. No probe lets fewer run.
 */
const PROBE_SHARE = 0.25
const PROBE_LIMIT = 3

/**
 * A request that runs longer than this, and longer than so many latencies, must be something like a long
 * poll.
 */
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
   * Begins a probe while `running` requests run. `latencyMs` is how long they take now. In the first probe,
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

  /** Counts the end of a request from before the probe. */
  end(): void {
    this.#leftBehind--
  }

  advance(nowMs: number): void {
    this.#periods = Math.floor((nowMs - this.#startedAtMs) / this.#longMs)
  }

  /**
   * Requests that began before the probe take its places, because the server still works on them. After a
   * long time, they must be something like long polls, and no longer count. For each such time, the probe
   * also gets as many more places, so that long requests that began in it do not keep all of them.
   */
  get count(): number {
    const others = this.#periods > 0 ? this.#leftBehind : 0
    return Math.min(this.#limit, this.#places * (1 + this.#periods)) + others
  }
}
