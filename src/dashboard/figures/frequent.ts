import { FrequentNames } from '../../util/frequent.js'

/** How many names each span counts. */
const MAX_COUNTED = 500
/** A span, and how many are kept: 15 minutes together. */
const SPAN_MS = 300_000
const SPANS = 3

/**
 * Counts the names that are most frequent in the last 15 minutes, in three spans: if more than 500 names
 * occur in a span, counts are too low by at most a 500th of all that were counted; otherwise they are exact.
 */
export class RecentlyFrequentNames {
  #spans: FrequentNames[] = []
  #startedMs = Number.NEGATIVE_INFINITY

  count(nowMs: number, name: string): void {
    this.#rotate(nowMs)
    this.#spans[0]?.count(name)
  }

  /** Returns the most frequent names, at most `most`, with their counts. */
  top(nowMs: number, most: number): readonly (readonly [name: string, count: number])[] {
    this.#rotate(nowMs)
    const sums = new Map<string, number>()
    for (const span of this.#spans)
      for (const [name, count] of span.entries()) sums.set(name, (sums.get(name) ?? 0) + count)
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, most)
  }

  #rotate(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#startedMs) / SPAN_MS)
    if (passed <= 0 && passed > -SPANS) return
    if (Math.abs(passed) >= SPANS) {
      this.#spans = [new FrequentNames(MAX_COUNTED)]
      this.#startedMs = nowMs
      return
    }
    const empty = Array.from({ length: passed }, () => new FrequentNames(MAX_COUNTED))
    this.#spans = [...empty, ...this.#spans].slice(0, SPANS)
    this.#startedMs += passed * SPAN_MS
  }
}
