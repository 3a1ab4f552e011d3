const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The widths of bars, each a multiple of the one before; beyond a day they double. */
const WIDTHS_MS = [
  ...[SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  DAY,
]
const MAX_BARS = 36

/** A span of time, and what was decided in it. */
export interface Bar {
  readonly atMs: number
  readonly requests: number
  /** For each limit. */
  readonly denied: readonly number[]
}

/**
 * Counts requests over a span of time that is not known before: bars are a second wide at first, and are
 * joined into wider ones when they become too many. Bars begin at multiples of their width, in UTC.
 */
export class Histogram {
  #step = 0
  #firstIndex = 0
  #requests: number[] = []
  readonly #denied: number[][]

  /** Counts what each of `limits` limits denies. */
  constructor(limits: number) {
    this.#denied = Array.from({ length: limits }, () => [])
  }

  get widthMs(): number {
    return widthOf(this.#step)
  }

  /** Counts a request. `nowMs` never goes back. */
  add(nowMs: number): void {
    if (this.#requests.length === 0) this.#firstIndex = Math.floor(nowMs / this.widthMs)
    while (this.#barOf(nowMs) >= MAX_BARS) this.#widen()
    const bar = this.#barOf(nowMs)
    while (this.#requests.length <= bar) {
      this.#requests.push(0)
      for (const counts of this.#denied) counts.push(0)
    }
    this.#requests[bar] = (this.#requests[bar] ?? 0) + 1
  }

  /** Counts that a limit denies the last request. */
  addDenial(limit: number): void {
    const counts = this.#denied[limit]
    counts?.push((counts.pop() ?? 0) + 1)
  }

  bars(): Bar[] {
    return this.#requests.map((requests, i) => {
      const atMs = (this.#firstIndex + i) * this.widthMs
      return { atMs, requests, denied: this.#denied.map((counts) => counts[i] ?? 0) }
    })
  }

  #barOf(nowMs: number): number {
    return Math.floor(nowMs / this.widthMs) - this.#firstIndex
  }

  #widen(): void {
    const factor = widthOf(this.#step + 1) / this.widthMs
    const firstIndex = Math.floor(this.#firstIndex / factor)
    const join = (counts: readonly number[]): number[] => {
      const joined: number[] = []
      for (const [i, count] of counts.entries()) {
        const bar = Math.floor((this.#firstIndex + i) / factor) - firstIndex
        joined[bar] = (joined[bar] ?? 0) + count
      }
      return joined
    }
    this.#requests = join(this.#requests)
    for (const [i, counts] of this.#denied.entries()) this.#denied[i] = join(counts)
    this.#firstIndex = firstIndex
    this.#step++
  }
}

function widthOf(step: number): number {
  return WIDTHS_MS[step] ?? DAY * 2 ** (step - WIDTHS_MS.length + 1)
}
