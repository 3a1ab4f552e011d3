import type { Policy } from '../policies/policy.js'
import { slidingWindow } from '../policies/sliding-window.js'
import type { ChargeResult, Part, PartResult } from '../stores/operation.js'
import { weakMemo } from '../util/memo.js'

/** The longest time for which a unit counts as undecided. The shortest is a third of it. */
const UNDECIDED_MS = 15_000
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

/**
 * Returns the part that marks the units of a part as undecided. Its cost is 0 if there is nothing to mark.
 */
export function markOf({ key, policy, cost }: Part): Part {
  return { key: key + MARK_SUFFIX, policy: markPolicyOf(policy), cost: policy.holdsUnits ? 0 : cost }
}

/**
 * Returns the policy that counts the undecided units of a limit, no longer than the limit does. Units count
 * for one slice at least, and three at most.
 */
const markPolicyOf = weakMemo(({ windowMs }: Policy): Policy => {
  const sliceMs = Math.max(1, Math.floor(Math.min(UNDECIDED_MS, windowMs) / 3))
  return slidingWindow({ limit: MOST_MARKS, window: `${2 * sliceMs}ms`, slices: 2 })
})

/**
 * Returns the charge that excuses one denial of a part. A client that waits for `UNDECIDED_RETRY_MS` before
 * each retry never runs out of excuses.
 */
export function excuseOf({ key }: Part): Part {
  return { key: key + EXCUSE_SUFFIX, policy: excusePolicy(), cost: 1 }
}

let excuses: Policy | undefined
function excusePolicy(): Policy {
  excuses ??= slidingWindow({ limit: EXCUSES, window: `${EXCUSES * UNDECIDED_RETRY_MS}ms`, slices: 2 })
  return excuses
}

/** Returns a result without the marks, which follow the parts. */
export function withoutMarks(parts: readonly Part[], result: ChargeResult): ChargeResult {
  return { ...result, parts: result.parts.slice(0, parts.length) }
}

/** Returns why each part was denied; `undefined` for one that did not deny. */
export function causesOf(parts: readonly Part[], { parts: figures }: ChargeResult): (Cause | undefined)[] {
  return parts.map((part, i) => {
    const own = figures[i]
    const mark = figures[parts.length + i]
    return own === undefined || mark === undefined || own.allowed ? undefined : causeOf(part, own, mark)
  })
}

function causeOf({ policy, cost }: Part, own: PartResult, mark: PartResult): Cause {
  const { isBanned, remaining, debt = 0 } = own
  const { limit } = policy
  const used = limit - remaining + debt
  const decided = used - (MOST_MARKS - mark.remaining)
  if (isBanned || policy.holdsUnits || decided + cost > limit) return 'decided'
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
