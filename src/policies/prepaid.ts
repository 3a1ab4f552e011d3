/**
 * How units are held that were taken ahead of their use, so that what is admitted with them is what the policy would have
 * admitted, had it been charged at the moments of use. Times are the store's, in milliseconds since the Unix epoch; `takenAtMs` and
 * `resetAtMs` are as for a refund. Pure, as a policy is.
 */
export interface Prepaid {
  /** How many of `units` may still be used at `nowMs`. What is used is to be taken from `units`. */
  usable(units: number, nowMs: number, takenAtMs: number, resetAtMs: number): number
  /**
   * How many of `units` may be given back at `nowMs`, where others hold up to a sixteenth of the limit, for up to `holdMs`. The
   * rest comes back by itself.
   */
  returnable(units: number, nowMs: number, holdMs: number, resetAtMs: number): number
}

/**
 * Of a policy that counts units in slices of time: they may be used in the slice in which they are counted, and given back always.
 * Each slice has counted at least what was used in it, at every moment; so what the policy admitted then, it admits with what was
 * used.
 */
export function prepaidInSlice(sliceOf: (atMs: number) => number): Prepaid {
  return {
    usable: (units, nowMs, takenAtMs) => (sliceOf(nowMs) === sliceOf(takenAtMs) ? units : 0),
    returnable: (units) => units,
  }
}

/**
 * Of a bucket. What is missing in it is a queue of units that are refilled in the order of their taking, one per interval. A unit may
 * be used until its own refilling begins: then it lies in the bucket again, for anybody to take.
 *
 * Why that is exact: charged at the moments of use, a bucket misses at most what this one misses, as long as that is at least what
 * all together hold. It is, as long as each holds only units whose refilling has not begun. To use units until the bucket would be
 * full again would be too long: of a full bucket of 10, held for the time of 9 units, 19 would be there at once.
 *
 * What is given back leaves the queue, and all behind it are refilled earlier than their holders know. That harms nobody as long as
 * more is missing than others hold, for as long as they hold it: with what was taken since before and is given back meanwhile, twice
 * a sixteenth of the limit. In a bucket that misses less, units are not given back: its refill brings them at once.
 */
export function prepaidRefill(intervalMs: number, capacity: number): Prepaid {
  const reserveMs = (capacity / 8) * intervalMs
  const before = (units: number, ms: number) => Math.max(0, Math.min(units, Math.floor(ms / intervalMs)))
  return {
    usable: (units, nowMs, _takenAtMs, resetAtMs) => before(units, resetAtMs - nowMs),
    returnable: (units, nowMs, holdMs, resetAtMs) => before(units, resetAtMs - nowMs - holdMs - reserveMs),
  }
}
