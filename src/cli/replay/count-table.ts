/** The most entries that are kept. */
const MAX_COUNTS = 2 ** 20
/** Larger counts are merged into this one: no client sends this many requests in a window. */
const MAX_COUNT = 2 ** 26 - 1

/**
 * Counts the windows of each client by how many requests they had. Windows
 * with few requests are forgotten when there are too many entries: no limit above `minCount` denies any of them.
 */
export class CountTable {
  /** Limits from this one on can be judged exactly. */
  minCount = 1
  readonly #maxCounts: number
  readonly #windows = new Map<number, number>()

  constructor(maxCounts = MAX_COUNTS) {
    this.#maxCounts = maxCounts
  }

  add(id: number, count: number): void {
    if (count <= this.minCount) return
    const key = id * (MAX_COUNT + 1) + Math.min(count, MAX_COUNT)
    this.#windows.set(key, (this.#windows.get(key) ?? 0) + 1)
    while (this.#windows.size > this.#maxCounts) this.#forgetFew()
  }

  #forgetFew(): void {
    this.minCount *= 2
    for (const key of this.#windows.keys()) if (countOf(key) <= this.minCount) this.#windows.delete(key)
  }

  /** Returns how many windows of some clients had each number of requests above `minCount`. */
  windowsByCount(isWanted: (id: number) => boolean): Map<number, number> {
    const found = new Map<number, number>()
    for (const [key, windows] of this.#windows) {
      if (!isWanted(Math.floor(key / (MAX_COUNT + 1)))) continue
      const count = countOf(key)
      found.set(count, (found.get(count) ?? 0) + windows)
    }
    return found
  }
}

function countOf(key: number): number {
  return key % (MAX_COUNT + 1)
}
