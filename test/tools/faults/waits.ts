/** How long many things took, in milliseconds. */
export interface WaitSummary {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export interface Waits {
  add(ms: number): void
  clear(): void
  summary(): WaitSummary
}

export function waits(): Waits {
  const all: number[] = []
  return {
    add: (ms) => void all.push(ms),
    clear() {
      all.length = 0
    },
    summary() {
      const sorted = all.toSorted((a, b) => a - b)
      const at = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
      return { count: sorted.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
    },
  }
}
