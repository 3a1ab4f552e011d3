/**
 * A map of the keys that were set last: at least `atLeast` of them, at most twice as many. It keeps two
 * generations; a full one becomes the old one, and the old one is dropped whole, so that eviction needs no
 * search.
 */
export class RecentMap<Value> {
  readonly #atLeast: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(atLeast: number) {
    this.#atLeast = atLeast
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#atLeast && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
