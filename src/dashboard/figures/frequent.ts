/** So many names have a count of their own in each span. */
const MAX_COUNTED = 500
/** A span, and how many are kept: 15 minutes together. */
const SPAN_MS = 300_000
const SPANS = 3

/**
 * Counts the names that are most frequent in the last 15 minutes, in bounded memory. By the algorithm of Misra
 * and Gries ("Finding repeated elements", 1982) in each of three spans: where more than 500 names occur in a
 * span, counts are too low by at most a 500th of all that were counted; otherwise they are exact.
 */
export class FrequentNames {
  #spans: Map<string, number>[] = []
  #startedMs = Number.NEGATIVE_INFINITY

  count(nowMs: number, name: string): void {
    this.#rotate(nowMs)
    const [counts] = this.#spans as [Map<string, number>]
    const count = counts.get(name)
    if (count !== undefined || counts.size < MAX_COUNTED) counts.set(name, (count ?? 0) + 1)
    else decrementAll(counts)
  }

  /** Returns the most frequent names, at most `most`, with their counts. */
  top(nowMs: number, most: number): readonly (readonly [name: string, count: number])[] {
    this.#rotate(nowMs)
    const sums = new Map<string, number>()
    for (const counts of this.#spans)
      for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, most)
  }

  #rotate(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#startedMs) / SPAN_MS)
    if (passed <= 0 && passed > -SPANS) return
    if (Math.abs(passed) >= SPANS) {
      this.#spans = [new Map()]
      this.#startedMs = nowMs
      return
    }
    const empty = Array.from({ length: passed }, () => new Map<string, number>())
    this.#spans = [...empty, ...this.#spans].slice(0, SPANS)
    this.#startedMs += passed * SPAN_MS
  }
}

function decrementAll(counts: Map<string, number>): void {
  for (const [name, count] of counts) {
    if (count === 1) counts.delete(name)
    else counts.set(name, count - 1)
  }
}
