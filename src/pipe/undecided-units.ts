import { bucketOfLimit } from '../policies/token-bucket.js'
import type { Part, PartResult } from '../stores/operation.js'
import { once } from '../util/memo.js'

/** When to retry a charge that only undecided units denied. */
export const UNDECIDED_RETRY_MS = 1000
/** Far more than all processes can hold at once, so that a mark never denies a charge. */
export const MOST_MARKS = 2 ** 31
/** How many disputed denials of a limit are excused in as many retry times. */
const EXCUSES = 10

/** Appended to the key of a limit, so that the keys have the same slot in a Redis Cluster. */
const EXCUSE_SUFFIX = '!'

/**
 * Why a part was denied.
 *
 * - `'decided'`: by units of known outcome, or by a ban.
 * - `'undecided'`: without the undecided units, it would have been allowed.
 * - `'disputed'`: the same, but at least half of the limit is in use by units of known outcome.
 */
export type Cause = 'decided' | 'undecided' | 'disputed'

/** Returns how many units are marked. */
export function markedUnits({ remaining }: PartResult): number {
  return MOST_MARKS - remaining
}

/**
 * Returns the charge that excuses one denial of a part. A client that waits for `UNDECIDED_RETRY_MS` before
 * each retry never runs out of excuses.
 */
export function excuseOf({ key }: Part): Part {
  return { key: key + EXCUSE_SUFFIX, policy: excusePolicy(), cost: 1 }
}

const excusePolicy = once(() => bucketOfLimit('excuses', EXCUSES, EXCUSES * UNDECIDED_RETRY_MS))

/** Returns whether undecided units may have denied a part. */
export function mayBeUndecided({ policy, cost }: Part, { allowed, isBanned }: PartResult): boolean {
  return !allowed && !isBanned && !policy.holdsUnits && cost <= policy.limit
}

/** Returns why a part was denied, if so many units are undecided; `undefined` if it was not denied. */
export function causeOf(part: Part, figures: PartResult, undecided: number): Cause | undefined {
  if (figures.allowed) return undefined
  if (!mayBeUndecided(part, figures)) return 'decided'
  const { limit } = part.policy
  const { remaining, debt = 0 } = figures
  const decided = limit - remaining + debt - undecided
  if (decided + part.cost > limit) return 'decided'
  return decided * 2 >= limit ? 'disputed' : 'undecided'
}

/** Returns the figures of a part that only undecided units denied. */
export function untilDecided(figures: PartResult): PartResult {
  const { retryAfterMs, moreAfterMs } = figures
  return {
    ...figures,
    retryAfterMs: Math.min(retryAfterMs, UNDECIDED_RETRY_MS),
    moreAfterMs: Math.min(moreAfterMs, UNDECIDED_RETRY_MS),
  }
}
