import { NO_RULES } from '../policies/change-options.js'
import type { Policy } from '../policies/policy.js'
import { makeSlidingWindow } from '../policies/sliding-window.js'
import type { Part, PartResult } from '../stores/operation.js'
import { weakMemo } from '../util/memo.js'

/** The longest time for which a mark shows a unit as undecided. The shortest is a third of it. */
const MARK_MS = 60_000
/** When to retry a charge that only undecided units denied. */
export const UNDECIDED_RETRY_MS = 1000
/** Far more than all processes can hold at once, so that a mark never denies a charge. */
const MOST_MARKS = 2 ** 31
/** How many disputed denials of a limit are excused in as many retry times. */
const EXCUSES = 10

/** Appended to the key of a limit, so that the keys have the same slot in a Redis Cluster. */
const MARK_SUFFIX = '?'
const EXCUSE_SUFFIX = '!'

/**
 * Why a part was denied.
 *
 * - `'decided'`: by units of known outcome, or by a ban.
 * - `'undecided'`: without the undecided units, it would have been allowed.
 * - `'disputed'`: the same, but at least half of the limit is in use by units of known outcome.
 */
export type Cause = 'decided' | 'undecided' | 'disputed'

/** Returns the part that marks the units of a part as undecided. */
export function markOf({ key, policy, cost }: Part): Part {
  return { key: key + MARK_SUFFIX, policy: markPolicyOf(policy), cost }
}

/**
 * Returns the policy that counts the marks of a limit, no longer than the limit counts units. Marks count for
 * one slice at least, and three at most.
 */
const markPolicyOf = weakMemo(({ windowMs }: Policy): Policy => {
  const sliceMs = Math.max(1, Math.floor(Math.min(MARK_MS, windowMs) / 3))
  return makeSlidingWindow({
    name: 'marks',
    limit: MOST_MARKS,
    windowMs: 2 * sliceMs,
    slices: 2,
    ...NO_RULES,
  })
})

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

let excuses: Policy | undefined
function excusePolicy(): Policy {
  const windowMs = EXCUSES * UNDECIDED_RETRY_MS
  excuses ??= makeSlidingWindow({ name: 'excuses', limit: EXCUSES, windowMs, slices: 2, ...NO_RULES })
  return excuses
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
