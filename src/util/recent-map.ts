/**
 * A map of what was set last: of at least `atLeast` keys and at most twice as many, in two generations. A full map begins a new
 * generation and drops the one before the last, so that room costs nothing to find.
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
