import type { Reference, Taken } from './reference.js'

/** Times of a bucket are whole ticks of 1/4096 ms, so that whole numbers suffice. */
const TICKS_PER_MS = 4096

/** When the bucket will be full again, in ticks. A time that has passed means full. */
type Bucket = bigint

const ticksOf = (ms: number) => BigInt(Math.floor(ms * TICKS_PER_MS))
const msOf = (ticks: bigint) => Number(ticks) / TICKS_PER_MS
const least = (a: bigint, b: bigint) => (a < b ? a : b)

/** A bucket that starts full and regains one token after each interval. */
export function bucket(capacity: number, intervalMs: number): Reference<Bucket> {
  const interval = ticksOf(intervalMs)
  const span = BigInt(capacity) * interval

  /** How much of the bucket is filled, in ticks. */
  function level(fullAt: Bucket, nowMs: number): bigint {
    const missing = fullAt - ticksOf(nowMs)
    if (missing <= 0n) return span
    return missing >= span ? 0n : span - missing
  }

  function settle(fullAt: Bucket, nowMs: number): Bucket {
    return least(fullAt, ticksOf(nowMs) + span)
  }

  /** Gives back what the refill has not brought back already. */
  function refund(fullAt: Bucket, nowMs: number, { cost, takenAtMs, resetAtMs }: Taken): Bucket {
    const worth = BigInt(cost) * interval
    const expected = resetAtMs === undefined ? ticksOf(takenAtMs) + worth : ticksOf(resetAtMs)
    const returned = least(worth, expected - ticksOf(nowMs))
    return returned <= 0n ? fullAt : settle(fullAt, nowMs) - returned
  }

  return {
    limit: capacity,
    fresh: () => 0n,
    figures(fullAt, nowMs) {
      const filled = level(fullAt, nowMs)
      const remaining = filled / interval
      const more = filled === span ? 0n : (remaining + 1n) * interval - filled
      return {
        remaining: Number(remaining),
        moreAfterMs: msOf(more),
        resetAfterMs: msOf(span - filled),
        bannedForMs: 0,
      }
    },
    take(fullAt, nowMs, cost) {
      const left = level(fullAt, nowMs) - BigInt(cost) * interval
      return left < 0n ? undefined : ticksOf(nowMs) + span - left
    },
    retryAfterMs(fullAt, nowMs, cost) {
      if (cost > capacity) return Number.POSITIVE_INFINITY
      return msOf(BigInt(cost) * interval - level(fullAt, nowMs))
    },
    settle,
    deny: settle,
    refund,
    reward: (fullAt, nowMs, units) => refund(fullAt, nowMs, { cost: units, takenAtMs: nowMs }),
  }
}
