/** Each bucket's upper bound is the square root of 2 times the one before: half a doubling. */
export const BUCKETS = 42
const FIRST_BOUND_MS = 0.05
/** Two spans are kept, so that a report covers 30 to 60 seconds. */
const SPAN_MS = 30_000

/** How many calls there were, how many failed, and how many took how long. */
export interface Calls {
  readonly calls: number
  readonly failures: number
  readonly latency: readonly number[]
}

/** Measures how long calls take. */
export class Latency {
  #current = emptySpan()
  #previous = emptySpan()
  #startedMs = Number.NEGATIVE_INFINITY

  measure(nowMs: number, durationMs: number, failed: boolean): void {
    this.#rotate(nowMs)
    this.#current.calls++
    if (failed) this.#current.failures++
    const { latency } = this.#current
    const bucket = bucketOf(durationMs)
    latency[bucket] = (latency[bucket] ?? 0) + 1
  }

  report(nowMs: number): Calls {
    this.#rotate(nowMs)
    return addCalls(this.#current, this.#previous)
  }

  #rotate(nowMs: number): void {
    const agoMs = nowMs - this.#startedMs
    if (Math.abs(agoMs) < SPAN_MS) return
    this.#previous = agoMs > 0 && agoMs < 2 * SPAN_MS ? this.#current : emptySpan()
    this.#current = emptySpan()
    this.#startedMs = nowMs
  }
}

/** Adds calls up. */
export function addCalls(a: Calls, b: Calls): Calls {
  if (b.calls === 0) return { calls: a.calls, failures: a.failures, latency: a.latency }
  return {
    calls: a.calls + b.calls,
    failures: a.failures + b.failures,
    latency: a.latency.map((count, i) => count + (b.latency[i] ?? 0)),
  }
}

/** Returns how long the given share of calls took at most, in ms; `undefined` if there were none. */
export function quantileMs(latency: readonly number[], share: number): number | undefined {
  const total = latency.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let seen = 0
  const bucket = latency.findIndex((count) => {
    seen += count
    return seen >= share * total
  })
  return FIRST_BOUND_MS * 2 ** (bucket / 2)
}

function bucketOf(durationMs: number): number {
  const bucket = Math.ceil(2 * Math.log2(Math.max(durationMs, FIRST_BOUND_MS) / FIRST_BOUND_MS))
  return Math.min(bucket, BUCKETS - 1)
}

function emptySpan() {
  return { calls: 0, failures: 0, latency: new Array<number>(BUCKETS).fill(0) }
}
