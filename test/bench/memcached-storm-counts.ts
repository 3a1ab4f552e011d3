import { type Policy, tokenBucket } from 'headgate'

/** A token bucket, and who charges it at the same time for how long. */
export interface Storm {
  readonly capacity: number
  readonly refill: number
  readonly everyMs: number
  readonly callers: number
  readonly forMs: number
}

/** What came of charges of one unit each. */
export interface StormCounts {
  readonly allowed: number
  readonly denied: number
  /** Charges whose attempts ran out. They took nothing. */
  readonly ranOut: number
  /** The first and the last moment at which one was decided. */
  readonly firstMs: number
  readonly lastMs: number
}

export function bucketOf({ capacity, refill, everyMs }: Storm): Policy {
  return tokenBucket({ capacity, refill, every: `${everyMs}ms` })
}

export function addUp(counts: readonly StormCounts[]): StormCounts {
  const sum = (name: 'allowed' | 'denied' | 'ranOut') => counts.reduce((total, each) => total + each[name], 0)
  return {
    allowed: sum('allowed'),
    denied: sum('denied'),
    ranOut: sum('ranOut'),
    firstMs: Math.min(...counts.map(({ firstMs }) => firstMs)),
    lastMs: Math.max(...counts.map(({ lastMs }) => lastMs)),
  }
}

export function decisionsIn({ allowed, denied, ranOut }: StormCounts): number {
  return allowed + denied + ranOut
}

/** The bound of a bucket: its units at the start, and those refilled since. */
export function mostAllowed(storm: Storm, { firstMs, lastMs }: StormCounts): number {
  const { capacity, intervalMs } = bucketOf(storm).spec as { capacity: number; intervalMs: number }
  return capacity + Math.floor((lastMs - firstMs) / intervalMs)
}
