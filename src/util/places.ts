/**
 * A number of places that keys share. A key may have no more of them than are left: one key alone gets half,
 * two get a third each, and a new one always finds a place. (Routers divide their buffers among queues by
 * the same rule: Choudhury and Hahne, "Dynamic Queue Length Thresholds", 1998.)
 */
export class SharedPlaces {
  readonly #taken = new Map<string, number>()
  #left: number

  constructor(count: number) {
    this.#left = count
  }

  hasPlaceFor(key: string): boolean {
    return (this.#taken.get(key) ?? 0) < this.#left
  }

  take(key: string): void {
    this.#left -= 1
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
  }

  giveBack(key: string): void {
    this.#left += 1
    const taken = (this.#taken.get(key) ?? 0) - 1
    if (taken > 0) this.#taken.set(key, taken)
    else this.#taken.delete(key)
  }
}
