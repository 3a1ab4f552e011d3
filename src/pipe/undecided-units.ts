import { type Cause, UNDECIDED_RETRY_MS } from '../policies/judge-denials.js'
import type { Part, PartResult } from '../stores/operation.js'

/** Far more than all processes can hold at once, so that a mark never denies a charge. */
export const MOST_MARKS = 2 ** 31
/** Returns how many units are marked. */
export function markedUnits({ remaining }: PartResult): number {
  return MOST_MARKS - remaining
}

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
