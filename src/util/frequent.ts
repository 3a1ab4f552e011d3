/**
 * Counts the names that are most frequent, at most `capacity` of them, by the algorithm of Misra and Gries
 * ("Finding repeated elements", 1982). Counts are exact until more names occur; then each is too low by at
 * most the number of all counted, divided by `capacity`.
 */
export class FrequentNames {
  readonly #capacity: number
  readonly #counts = new Map<string, number>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  count(name: string): void {
    const count = this.#counts.get(name)
    if (count !== undefined || this.#counts.size < this.#capacity) this.#counts.set(name, (count ?? 0) + 1)
    else this.#decrementAll()
  }

  entries(): Iterable<[name: string, count: number]> {
    return this.#counts
  }

  /** Returns the most frequent names, at most `most`, with their counts. */
  top(most: number): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, most)
  }

  #decrementAll(): void {
    for (const [name, count] of this.#counts) {
      if (count === 1) this.#counts.delete(name)
      else this.#counts.set(name, count - 1)
    }
  }
}
