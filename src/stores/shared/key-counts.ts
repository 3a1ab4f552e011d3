import type { Charge } from '../store.js'

/** How many charges name each key. */
export class KeyCounts {
  readonly #counts = new Map<string, number>()

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  add(charge: Charge): void {
    for (const { key } of charge) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  remove(charge: Charge): void {
    for (const { key } of charge) {
      const left = (this.#counts.get(key) ?? 0) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }

  hasAny(charge: Charge): boolean {
    return charge.some(({ key }) => this.#counts.has(key))
  }
}
