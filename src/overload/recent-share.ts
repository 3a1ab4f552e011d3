/** How long the past counts: between this time and twice as long. */
const SPAN_MS = 5000

/** The share of recent events that are of one kind, such as denials among requests. */
export class RecentShare {
  #startedAtMs = Number.NEGATIVE_INFINITY
  #all = 0
  #matching = 0
  #allBefore = 0
  #matchingBefore = 0

  count(isMatching: boolean, nowMs: number): void {
    if (nowMs - this.#startedAtMs >= SPAN_MS) this.#turn(nowMs)
    this.#all++
    if (isMatching) this.#matching++
  }

  /**
   * Returns a number from 0 to 1. So that a few events do not decide alone, `others` that do not match are
   * added.
   */
  share(nowMs: number, others = 0): number {
    if (nowMs - this.#startedAtMs >= SPAN_MS) this.#turn(nowMs)
    const all = this.#all + this.#allBefore + others
    return all === 0 ? 0 : (this.#matching + this.#matchingBefore) / all
  }

  #turn(nowMs: number): void {
    const isNext = nowMs - this.#startedAtMs < 2 * SPAN_MS
    this.#allBefore = isNext ? this.#all : 0
    this.#matchingBefore = isNext ? this.#matching : 0
    this.#all = this.#matching = 0
    this.#startedAtMs = nowMs
  }
}
