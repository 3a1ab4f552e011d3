/**
 * A bounded map of the keys set most recently: at least `minKeys` of them, at most twice as many. It keeps
 * two generations; when the young one is full it becomes the old one, and the previous old one is dropped
 * whole, so that eviction needs no search.
 */
export class RecentMap<Value> {
  /** Whether there are no keys. A field, not a getter, because each charge of a remote store reads it. */
  isEmpty = true
  readonly #minKeys: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(minKeys: number) {
    this.#minKeys = minKeys
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#minKeys && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
    this.isEmpty = false
  }

  /** Returns all keys with their values. Those set last come last. */
  entries(): [string, Value][] {
    return [...new Map([...this.#old, ...this.#young])]
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
    this.isEmpty = this.#young.size + this.#old.size === 0
  }
}
