/** A key is hot if it is charged at least this many units in `holdMs`. */
const HOT_UNITS = 8

/**
 * The units charged to a key per `holdMs`. It is the larger of two figures: units charged in this interval
 * so far, and in the last one.
 */
export class Demand {
  readonly #holdMs: number
  #sinceMs = Number.NEGATIVE_INFINITY
  #current = 0
  #last = 0

  constructor(holdMs: number) {
    this.#holdMs = holdMs
  }

  add(cost: number, nowMs: number): void {
    this.#rollOver(nowMs)
    this.#current += cost
  }

  unitsAt(nowMs: number): number {
    this.#rollOver(nowMs)
    return Math.max(this.#current, this.#last)
  }

  isHotAt(nowMs: number): boolean {
    return this.unitsAt(nowMs) >= HOT_UNITS
  }

  #rollOver(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs
    if (elapsedMs < this.#holdMs) return
    this.#last = elapsedMs < 2 * this.#holdMs ? this.#current : 0
    this.#current = 0
    this.#sinceMs = nowMs
  }
}
