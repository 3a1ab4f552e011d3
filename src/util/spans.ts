/**
 * Keeps something for each of the last spans of time, such as the counts of five minutes. What is older than
 * all of them is dropped.
 */
export class Spans<Span> {
  readonly #spanMs: number
  readonly #most: number
  readonly #create: () => Span
  /** The newest first. */
  #spans: Span[] = []
  #startedMs = Number.NEGATIVE_INFINITY

  /** Keeps `most` spans of `spanMs`. */
  constructor(spanMs: number, most: number, create: () => Span) {
    this.#spanMs = spanMs
    this.#most = most
    this.#create = create
  }

  /** Returns what counts now. */
  current(nowMs: number): Span {
    this.#rotate(nowMs)
    const [first] = this.#spans
    if (first !== undefined) return first
    const created = this.#create()
    this.#spans = [created]
    this.#startedMs = nowMs
    return created
  }

  /** Returns what is kept, the newest first. */
  kept(nowMs: number): readonly Span[] {
    this.#rotate(nowMs)
    return this.#spans
  }

  clear(): void {
    this.#spans = []
  }

  /** A clock that steps back by less than all spans goes on in the newest one. */
  #rotate(nowMs: number): void {
    if (this.#spans.length === 0) return
    const passed = Math.floor((nowMs - this.#startedMs) / this.#spanMs)
    if (Math.abs(passed) >= this.#most) this.clear()
    if (passed <= 0 || this.#spans.length === 0) return
    const begun = Array.from({ length: passed }, this.#create)
    this.#spans = [...begun, ...this.#spans].slice(0, this.#most)
    this.#startedMs += passed * this.#spanMs
  }
}
