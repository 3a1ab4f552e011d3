/**
 * Requests that began before a probe take its places, because the server still works on them. After this
 * time, or this many mean latencies if that is longer, they must be something else, such as long polls.
 */
const LEFT_BEHIND_MS = 1000
const LEFT_BEHIND_LATENCIES = 5

/** The requests from before the last probe that still run. */
export class LeftBehind {
  #count = 0
  #untilMs = 0
  #takePlaces = true

  /** Begins a probe, when so many requests run. `meanMs` is how long requests took of late. */
  start(running: number, meanMs: number, nowMs: number): void {
    this.#count = running
    this.#untilMs = nowMs + Math.max(LEFT_BEHIND_MS, LEFT_BEHIND_LATENCIES * meanMs)
    this.#takePlaces = true
  }

  end(): void {
    this.#count--
  }

  advance(nowMs: number): void {
    this.#takePlaces = nowMs <= this.#untilMs
  }

  /** How many of them take no places of the probe. */
  get others(): number {
    return this.#takePlaces ? 0 : this.#count
  }
}
