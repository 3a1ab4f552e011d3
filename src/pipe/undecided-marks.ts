import { NO_RULES } from '../policies/change-options.js'
import type { Policy } from '../policies/policy.js'
import { makeSlidingWindow } from '../policies/sliding-window.js'
import type { Part } from '../stores/operation.js'
import { weakMemo } from '../util/memo.js'
import { MOST_MARKS } from './undecided-units.js'

/** The longest time for which a mark shows a unit as undecided. The shortest is a third of it. */
const MARK_MS = 60_000
/** Appended to the key of a limit, so that the keys have the same slot in a Redis Cluster. */
const MARK_SUFFIX = '?'

/** Returns the part that marks the units of a part as undecided. */
export function markOf({ key, policy, cost }: Part): Part {
  return { key: key + MARK_SUFFIX, policy: markPolicyOf(policy), cost }
}

/**
 * Returns the policy that counts the marks of a limit, no longer than the limit counts units. Marks count
 * for one slice at least, and three at most.
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
