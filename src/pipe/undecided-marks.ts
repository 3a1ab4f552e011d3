import { NO_RULES } from '../policies/change-options.js'
import type { Policy } from '../policies/policy.js'
import { makeSlidingWindow } from '../policies/sliding-window.js'
import type { Part } from '../stores/operation.js'
import { weakMemo } from '../util/memo.js'
import type { UndecidedMarks } from './undecided-charge.js'
import { MOST_MARKS, mayBeUndecided } from './undecided-units.js'

/** The longest time for which a mark shows a unit as undecided. The shortest is a third of it. */
const MARK_MS = 60_000
/** Appended to the key of a limit, so that the keys have the same slot in a Redis Cluster. */
const MARK_SUFFIX = '?'
/** The share of a limit that may be unmarked. */
const UNMARKED_SHARE = 1 / 8
/** The least limit with unmarked units. Of smaller ones, such as those of a login, each unit matters. */
const LEAST_LIMIT = 16

/** The marks of undecided units in remote stores. */
export const MARKS: UndecidedMarks = {
  markOf,
  mostUnmarked,
  isNeeded: ({ policy, cost }, unmarked) => unmarked + cost > mostUnmarked(policy),
  markUsedLimits({ parts, undecidedParts }, { parts: figures }, ledger) {
    const marks: Part[] = []
    for (const [i, part] of parts.entries()) {
      const undecidedPart = undecidedParts[i]
      const { remaining = 0 } = figures[i] ?? {}
      if (undecidedPart === undefined || undecidedPart.mark !== undefined) continue
      if (part.policy.limit - remaining <= mostUnmarked(part.policy)) continue
      ledger.recordMark(part.key, undecidedPart.unit)
      undecidedPart.mark = markOf(part)
      marks.push(undecidedPart.mark)
    }
    return marks
  },
  mayExcuse: ({ parts }, { parts: figures }, causes) =>
    parts.some((part, i) => {
      const own = figures[i]
      return causes[i] !== 'undecided' && own !== undefined && mayBeUndecided(part, own)
    }),
}

/** Returns the part that marks the units of a part as undecided. */
function markOf({ key, policy, cost }: Part): Part {
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

/**
 * Returns how many undecided units of a limit may be unmarked, in one process and in all processes together.
 * None of a ban, which must not count a denial that only undecided units cause.
 */
function mostUnmarked({ limit, uncounted }: Policy): number {
  return limit < LEAST_LIMIT || uncounted !== undefined ? 0 : Math.floor(limit * UNMARKED_SHARE)
}
