import { optional, readRows } from '../options/option-table.js'
import { keyName, wholeNumber } from '../util/validate.js'
import { ON_CHANGE_ROW, specOfRules } from './change-options.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec, OnChange } from './spec.js'

/** Options of `consecutive`. */
export interface ConsecutiveOptions {
  /** The most units that may be outstanding. A whole number of at least 1. */
  limit: number
  /** The name of the limit in headers and keys. Default: made from the limit, such as `5-in-a-row`. */
  name?: string
  /** How the units in use carry over when the limit changes, as in other policies. Default `'keep'`. */
  onChange?: OnChange
}

const OPTIONS = {
  rows: { limit: wholeNumber, name: optional(keyName), onChange: ON_CHANGE_ROW },
  fixes: {
    max: 'limit',
    points: 'limit',
    window: 'Leave it out: consecutive has no window.',
    windowMs: 'window',
  },
}

/**
 * Creates a policy without a window: units stay taken until a refund or `forget`. With `count: 'failed'`, it
 * counts failures in a row.
 *
 * **Bound.** At most `limit` units are outstanding at any time.
 *
 * **Clock.** Time changes nothing.
 *
 * **State.** The count.
 *
 * @example
 * ```ts
 * import { byField, consecutive, rateLimit } from 'headgate'
 *
 * // 10 wrong PINs lock a card until you call adjustments(pins.limiter).forget({ body: { card } }).
 * const policy = consecutive({ limit: 10 })
 * const pins = rateLimit({ policy, key: byField('card'), count: 'failed' })
 * ```
 */
export function consecutive(options: ConsecutiveOptions): Policy {
  const read = readRows('consecutive', options, OPTIONS)
  const { limit, name = `${limit}-in-a-row`, onChange } = read
  return makeConsecutive(name, limit, onChange)
}

function makeConsecutive(name: string, limit: number, onChange: OnChange): Policy {
  function take(state: State | undefined, _nowMs: number, cost: number): Step {
    const before = state?.[0] ?? 0
    const allowed = cost === 0 || before + cost <= limit
    const count = allowed ? before + cost : before
    const resetAfterMs = count === 0 ? 0 : Number.POSITIVE_INFINITY
    const retryAfterMs = allowed ? 0 : Number.POSITIVE_INFINITY
    const next = allowed && cost > 0 ? [count] : undefined
    const remaining = Math.max(0, limit - count)
    const step = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
    return count > limit ? { ...step, debt: count - limit } : step
  }

  function without(state: State, _nowMs: number, units: number): State | undefined {
    const [count = 0] = state
    if (units === 0) return state
    return count > units ? [count - units] : undefined
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({ kind: 'consecutive', limit, ...specOfRules({ debt: 0, onChange }) }),
    name,
    limit,
    windowMs: Number.POSITIVE_INFINITY,
    width: 1,
    take,
    refund: without,
    reward: without,
    clampToNow: (state) => state,
    scale: (share) => makeConsecutive(name, shareOf(limit, share), onChange),
  })
}
