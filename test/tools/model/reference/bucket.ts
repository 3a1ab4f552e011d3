import type { Reference, Taken } from './reference.js'

/** Times of a bucket are whole ticks of 1/4096 ms, so that whole numbers suffice. */
const TICKS_PER_MS = 4096

/** How many tokens were missing at a time, as a fraction. */
interface Bucket {
  readonly missing: bigint
  readonly per: bigint
  readonly at: bigint
}

const FULL: Bucket = { missing: 0n, per: 1n, at: 0n }

const ticksOf = (ms: number) => BigInt(Math.floor(ms * TICKS_PER_MS))
const msOf = (ticks: bigint) => Number(ticks) / TICKS_PER_MS
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)

/** A bucket that starts full and regains one token after each interval. */
export function bucket(capacity: number, intervalMs: number): Reference<Bucket> {
  const interval = ticksOf(intervalMs)
  const span = BigInt(capacity) * interval

  /** Returns how long the tokens of a state took to refill at its own time, rounded up to a tick. */
  const written = ({ missing, per }: Bucket) => (missing * interval + per - 1n) / per

  /** Returns how long the bucket takes to fill. A state from later than now adds a full bucket at most. */
  function missingAt(state: Bucket, nowMs: number): bigint {
    const missing = written(state) - (ticksOf(nowMs) - state.at)
    return most(0n, least(missing, most(written(state), span)))
  }

  const stateOf = (missing: bigint, at: bigint): Bucket => ({ missing, per: interval, at })

  function settle(state: Bucket, nowMs: number): Bucket {
    const missing = written(state) - (ticksOf(nowMs) - state.at)
    const possible = missingAt(state, nowMs)
    return state.at > ticksOf(nowMs) && possible < missing ? stateOf(possible, ticksOf(nowMs)) : state
  }

  /** Takes tokens from those that were missing, at the time of the state. */
  function less(state: Bucket, nowMs: number, worth: bigint): Bucket {
    if (worth <= 0n) return state
    const now = ticksOf(nowMs)
    const left = (state.at > now ? missingAt(state, nowMs) : written(state)) - worth
    return left <= 0n ? FULL : stateOf(left, least(state.at, now))
  }

  /** Gives back what the refill has not brought back already. */
  function refund(state: Bucket, nowMs: number, { cost, takenAtMs, resetAtMs }: Taken): Bucket {
    const worth = BigInt(cost) * interval
    const expected = resetAtMs === undefined ? ticksOf(takenAtMs) + worth : ticksOf(resetAtMs)
    return less(state, nowMs, least(worth, expected - ticksOf(nowMs)))
  }

  return {
    limit: capacity,
    fresh: () => FULL,
    figures(state, nowMs) {
      const missing = missingAt(state, nowMs)
      const remaining = most(0n, span - missing) / interval
      const more = missing === 0n ? 0n : missing - span + (remaining + 1n) * interval
      return {
        remaining: Number(remaining),
        moreAfterMs: msOf(more),
        resetAfterMs: msOf(missing),
        bannedForMs: 0,
      }
    },
    take(state, nowMs, cost) {
      const after = missingAt(state, nowMs) + BigInt(cost) * interval
      return after > span ? undefined : stateOf(after, ticksOf(nowMs))
    },
    retryAfterMs(state, nowMs, cost) {
      if (cost > capacity) return Number.POSITIVE_INFINITY
      return msOf(BigInt(cost) * interval + missingAt(state, nowMs) - span)
    },
    settle,
    deny: settle,
    refund,
    reward(state, nowMs, units) {
      const left = less(state, nowMs, BigInt(units) * interval)
      return left !== state && missingAt(left, nowMs) === 0n ? FULL : left // full again, it is as a fresh one
    },
  }
}
