/**
 * The share of a limit that all processes together hold as prepaid units at most, and so the most that can
 * lie unused in some while others deny. One of eight processes then takes a 128th of the limit at a time:
 * 128 round trips instead of one for each unit. Larger blocks would save few more.
 */
export const MAX_PREPAID_SHARE = 1 / 16

/**
 * How units of a policy that were taken before their use may be used and returned, so that the policy would
 * have admitted all uses, had it been charged at those moments. Pure, as a policy is. Times are the store's,
 * in milliseconds since the Unix epoch; `takenAtMs` and `resetAtMs` are as for a refund.
 */
export interface Prepaid {
  /**
   * Returns how many of `units` may still be used at `nowMs`. The caller keeps what is left of `units` after
   * each use.
   */
  usable(units: number, nowMs: number, takenAtMs: number, resetAtMs: number): number
  /**
   * Returns how many of `units` may be refunded at `nowMs`, where processes hold units for up to `holdMs`,
   * and `MAX_PREPAID_SHARE` of the limit at most. The policy brings back the rest by itself.
   */
  returnable(units: number, nowMs: number, holdMs: number, resetAtMs: number): number
}

/**
 * Creates the rule for a policy that counts units in slices of time: they are usable in the slice that
 * counts them, and always returnable. At every moment a slice has counted at least the units that were used
 * in it. So what the policy admitted, it admits with those.
 */
export function prepaidInSlice(sliceOf: (atMs: number) => number): Prepaid {
  return {
    usable: (units, nowMs, takenAtMs) => (sliceOf(nowMs) === sliceOf(takenAtMs) ? units : 0),
    returnable: (units) => units,
  }
}

/**
 * Creates the rule for a token bucket. What it misses is a queue of units that are refilled in the order of
 * their taking, one per interval. A unit is usable until its own refill begins: then it lies in the bucket
 * again, for anybody to take.
 *
 * Why that is exact: charged at the moments of use, a bucket misses at most what this one misses, as long as
 * this one misses at least what all processes hold. It does, as long as they hold only units whose refill
 * has not begun. To use units until the bucket would be full again would be too long: of a full bucket of
 * 10, held for the time of 9 units, 19 would be there at once.
 *
 * What is returned leaves the queue, and all behind it is refilled earlier than its holders know. That is
 * harmless while the bucket misses more than they hold, for as long as they hold it: `MAX_PREPAID_SHARE` of
 * the limit now, and as much that was taken before and is returned meanwhile. In a bucket that misses less
 * than those two shares (an eighth), units are not returned: the refill brings them. So of a slow bucket up
 * to an eighth can lie unused until then.
 */
export function prepaidRefill(intervalMs: number, capacity: number): Prepaid {
  const reserveMs = 2 * MAX_PREPAID_SHARE * capacity * intervalMs
  const refilledIn = (ms: number) => Math.max(0, Math.floor(ms / intervalMs))
  return {
    usable: (units, nowMs, _takenAtMs, resetAtMs) => Math.min(units, refilledIn(resetAtMs - nowMs)),
    returnable: (units, nowMs, holdMs, resetAtMs) =>
      Math.min(units, refilledIn(resetAtMs - nowMs - holdMs - reserveMs)),
  }
}
