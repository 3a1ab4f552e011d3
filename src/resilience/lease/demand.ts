/** How many units of a key are wanted in a time of `holdMs`: in this one so far, or in the last one, whichever is more. */
export class Demand {
  readonly #holdMs: number
  #sinceMs = Number.NEGATIVE_INFINITY
  #wanted = 0
  #wantedBefore = 0

  constructor(holdMs: number) {
    this.#holdMs = holdMs
  }

  add(cost: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= this.#holdMs) this.#begin(nowMs)
    this.#wanted += cost
  }

  at(nowMs: number): number {
    if (nowMs - this.#sinceMs >= this.#holdMs) this.#begin(nowMs)
    return Math.max(this.#wanted, this.#wantedBefore)
  }

  #begin(nowMs: number): void {
    const isNext = nowMs - this.#sinceMs < 2 * this.#holdMs
    this.#wantedBefore = isNext ? this.#wanted : 0
    this.#wanted = 0
    this.#sinceMs = nowMs
  }
}
