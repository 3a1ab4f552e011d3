import { weakMemo } from '../util/memo.js'
import { GRID_PER_MS, isOnGrid } from './bucket-grid.js'
import type { Policy } from './policy.js'
import { sliceIndex } from './sliding-window.js'

/**
 * The largest share of a limit that all processes together hold as prepaid units. So it is also the most
 * that can lie unused in some processes while others deny. With eight processes, each takes a 128th of the
 * limit at a time. Larger blocks would save few more round trips.
 */
export const MAX_PREPAID_SHARE = 1 / 16

/**
 * The rules by which units taken in advance may be used and returned. They keep all uses together within the
 * policy's bound. All functions are pure. Times are the store's, in milliseconds since the Unix epoch.
 * `takenAtMs` and `resetAtMs` are as for a refund.
 */
export interface Prepaid {
  /** Returns how many of the unused `units` may still be used at `nowMs`. */
  usable(units: number, nowMs: number, takenAtMs: number, resetAtMs: number): number
  /**
   * Returns how many of the unused `units` may be refunded at `nowMs`, if processes hold at most
   * `MAX_PREPAID_SHARE` of the limit, and each unit for up to `holdMs`. The refill brings back the rest.
   */
  returnable(units: number, nowMs: number, holdMs: number, resetAtMs: number): number
}

/**
 * Returns the rules for units of a policy that are taken before they are used, as by a lease; `undefined` if
 * that would not be exact.
 */
export const prepaidOf = /* @__PURE__ */ weakMemo(({ spec, periodAt }: Policy): Prepaid | undefined => {
  if (spec.kind === 'token-bucket') return prepaidRefill(spec.intervalMs, spec.capacity)
  if (spec.kind === 'first-request-window') return prepaidUntilReset
  if (spec.kind === 'sliding-window')
    return prepaidInSlice((atMs) => sliceIndex(atMs, spec.windowMs, spec.slices))
  if (spec.kind === 'fixed-window') return prepaidInSlice((atMs) => Math.floor(atMs / spec.windowMs))
  return periodAt && spec.kind === 'quota' ? prepaidInSlice((atMs) => periodAt(atMs).startsAtMs) : undefined
})

/**
 * Creates the rules for a policy that counts units in slices of time: they are usable in the slice that
 * counted them, and always returnable. So a slice has always counted at least the units used in it.
 */
function prepaidInSlice(sliceOf: (atMs: number) => number): Prepaid {
  return {
    usable: (units, nowMs, takenAtMs) => (sliceOf(nowMs) === sliceOf(takenAtMs) ? units : 0),
    returnable: (units) => units,
  }
}

/**
 * The rules for a policy whose window begins with the first charge: units are usable and returnable until
 * the window that counted them ends.
 *
 * Why that keeps the bound: each unit is used in the window that counted it, so no window admits more than
 * `limit`, and windows never overlap. A window usually begins with the charge that a lease sends along with
 * its request for a block. If that charge is denied just before the last window ends, or is refunded later,
 * prepaid units alone begin the window: it ends earlier than if each unit had been charged when it was used.
 */
const prepaidUntilReset: Prepaid = {
  usable: (units, nowMs, _takenAtMs, resetAtMs) => (nowMs < resetAtMs ? units : 0),
  returnable: (units, nowMs, _holdMs, resetAtMs) => (nowMs < resetAtMs ? units : 0),
}

/**
 * Creates the rules for a token bucket. Its missing units form a queue, refilled in the order in which they
 * were taken, one per interval. A unit is usable until its own refill begins. Then any client can take it
 * from the bucket again.
 *
 * Why that is exact: if each unit had been charged when it was used, the bucket would miss at most what it
 * misses now. This holds as long as the bucket misses at least what all processes hold. It does so while
 * they hold only units whose refill has not begun. If units were usable until the whole bucket is full, 10
 * units held while 9 are refilled would allow 19 at once.
 *
 * Returned units leave the queue, and all behind them are refilled earlier than their holders know. That is
 * harmless while the bucket misses more than they hold: `MAX_PREPAID_SHARE` of the limit now, and as much
 * again that may be returned meanwhile. If a bucket misses less than that (an eighth), its units are left to
 * the refill. So up to an eighth of a slow bucket can lie unused until then.
 */
function prepaidRefill(intervalMs: number, capacity: number): Prepaid {
  const reserveMs = 2 * MAX_PREPAID_SHARE * capacity * intervalMs
  // If the interval is off the grid, `resetAtMs` is rounded up to the grid, and rounded again as a sum.
  const roundedMs = isOnGrid(intervalMs) ? 0 : 2 / GRID_PER_MS
  const refilledIn = (ms: number) => Math.max(0, Math.floor((ms - roundedMs) / intervalMs))
  return {
    usable: (units, nowMs, _takenAtMs, resetAtMs) => Math.min(units, refilledIn(resetAtMs - nowMs)),
    returnable: (units, nowMs, holdMs, resetAtMs) =>
      Math.min(units, refilledIn(resetAtMs - nowMs - holdMs - reserveMs)),
  }
}
