import { MAX_DURATION_MS } from '../util/durations.js'
import { wrongOption } from '../util/validate.js'

/**
 * Bucket times are multiples of 1/4096 ms, the spacing of doubles at today's time, so sums and retry times
 * are exact. (Epoch milliseconds reach 2^41, where the spacing doubles, in 2039.) Lua and SQL round alike.
 */
export const GRID_PER_MS = 4096

/**
 * The longest time that units in use take to come back: 142,000 years. After a change to a much slower rate,
 * they could take longer, but no double holds such times to the millisecond.
 */
export const MAX_MISSING_MS = 2 ** 52

/** The largest capacity for which sums of its tokens' intervals are exact. */
export const MAX_CAPACITY = 2 ** 37
/** The highest rate: a billion a second. */
const MAX_PER_MS = 1e6

/** The largest relative error of a rate. */
const MAX_RATE_ERROR = 0.0001
/** The bits of an interval that is not on the grid. Rounding to them changes it by less than 0.004%. */
const INTERVAL_BITS = 15

/**
 * Returns the time in which a bucket refills one token, rounded so that sums of it are exact. It is rounded
 * to the grid if that changes the rate by at most 0.01%. Otherwise it is rounded to 15 bits, so that sums
 * of up to 2^38 such times are exact.
 */
export function bucketInterval(exactMs: number, round = Math.round): number {
  const onGridMs = round(exactMs * GRID_PER_MS) / GRID_PER_MS
  if (onGridMs > 0 && Math.abs(onGridMs - exactMs) <= MAX_RATE_ERROR * exactMs) return onGridMs
  const unitMs = fineUnit(exactMs)
  return round(exactMs / unitMs) * unitMs
}

/** Returns whether a time is rounded as `bucketInterval` rounds. */
export function isBucketInterval(ms: number): boolean {
  return ms > 0 && (isOnGrid(ms) || Number.isInteger(ms / fineUnit(ms)))
}

/** Returns whether a bucket that refills a token in this time can keep its times on the grid. */
export function isOnGrid(ms: number): boolean {
  return Number.isInteger(ms * GRID_PER_MS)
}

/** Returns the unit of the times of a bucket that refills a token in `intervalMs`. */
export function bucketUnit(intervalMs: number): number {
  return isOnGrid(intervalMs) ? 1 / GRID_PER_MS : fineUnit(intervalMs)
}

function fineUnit(intervalMs: number): number {
  return 2 ** (Math.floor(Math.log2(intervalMs)) + 1 - INTERVAL_BITS)
}

/** Returns the time in which a token is refilled, rounded. `option` is the option that sets both numbers. */
export function readInterval(
  owner: string,
  { capacity, refill, every }: Record<'capacity' | 'refill' | 'every', number>,
  option?: string,
): number {
  if ((capacity / refill) * every > MAX_DURATION_MS) {
    const must = 'small enough to fill within 10 years'
    throw wrongOption(owner, 'capacity', must, capacity, 'Use a smaller capacity or a faster refill.')
  }
  const fix = 'Count in larger units, such as kilobytes.'
  if (capacity > MAX_CAPACITY) throw wrongOption(owner, option ?? 'capacity', 'at most 2^37', capacity, fix)
  if (refill / every > MAX_PER_MS)
    throw wrongOption(owner, option ?? 'refill', 'at most 10^9 per second', refill, fix)
  return bucketInterval(every / refill)
}
