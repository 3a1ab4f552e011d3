import { optional, readOptions } from '../options/option-table.js'
import { keyName, wholeNumber } from '../util/validate.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'

/** Options of `consecutive`. */
export interface ConsecutiveOptions {
  /** The most units that may be outstanding. A whole number of at least 1. */
  limit: number
  /** For headers and keys. Default: made from the limit, such as `5-in-a-row`. */
  name?: string
}

const OPTIONS = {
  rows: { limit: wholeNumber, name: optional(keyName) },
  fixes: {
    max: 'limit',
    points: 'limit',
    window: 'Leave it out: consecutive has no window.',
    windowMs: 'window',
  },
}

/**
 * Creates a cap without a window: only a refund or `forget` frees units. With `count: 'failed'`, it counts
 * failed logins in a row. State: the count.
 *
 * **Bound.** At most `limit` units are outstanding at any time.
 *
 * **Clock.** Time changes nothing.
 */
export function consecutive(options: ConsecutiveOptions): Policy {
  const { limit, name = `${limit}-in-a-row` } = readOptions('consecutive', options, OPTIONS)
  return makeConsecutive(name, limit)
}

function makeConsecutive(name: string, limit: number): Policy {
  function take(state: State | undefined, _nowMs: number, cost: number): Step {
    const before = state?.[0] ?? 0
    const allowed = cost === 0 || before + cost <= limit
    const count = allowed ? before + cost : before
    const resetAfterMs = count === 0 ? 0 : Number.POSITIVE_INFINITY
    const retryAfterMs = allowed ? 0 : Number.POSITIVE_INFINITY
    const next = allowed && cost > 0 ? [count] : undefined
    const remaining = Math.max(0, limit - count)
    return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  function giveBack(state: State, _nowMs: number, cost: number): State | undefined {
    const [count = 0] = state
    if (cost === 0) return state
    return count > cost ? [count - cost] : undefined
  }

  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'consecutive', limit }),
    name,
    limit,
    windowMs: Number.POSITIVE_INFINITY,
    width: 1,
    take,
    refund: giveBack,
    reward: giveBack,
    clampToNow: (state) => state,
    scale: (share) => makeConsecutive(name, shareOf(limit, share)),
  })
}
