import { policyHints } from '../options/hints/policy-hints.js'
import { optional, readOptions } from '../options/option-table.js'
import { keyName, wholeNumber } from '../util/validate.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'

/** What a limit without a window is made of. */
export interface ConsecutiveOptions {
  /** Units that may be taken until something is given back. A whole number of at least 1. */
  limit: number
  /** For headers and keys. Default: such as `5-in-a-row`. */
  name?: string
}

const OPTIONS = {
  rows: { limit: wholeNumber, name: optional(keyName) },
  hint: policyHints({ units: ['limit'] }),
}

/**
 * A count without a window: only a refund, a reset or `forget` frees it. For failed logins in a row, with
 * `count: 'failed'`. State: the count.
 *
 * **Bound.** At most `limit` units are ever out at once, over any time: each refund makes room for what it gave back.
 *
 * **Clock.** None is read.
 */
export function consecutive(options: ConsecutiveOptions): Policy {
  const { limit, name = `${limit}-in-a-row` } = readOptions('consecutive', options, OPTIONS)
  return makeConsecutive(name, limit)
}

function makeConsecutive(name: string, limit: number): Policy {
  function take(state: State | undefined, _nowMs: number, cost: number): Step {
    const count = state === undefined ? 0 : (state[0] as number)
    const allowed = cost === 0 || count + cost <= limit
    const after = allowed ? count + cost : count
    const resetAfterMs = after === 0 ? 0 : Number.POSITIVE_INFINITY
    const retryAfterMs = allowed ? 0 : Number.POSITIVE_INFINITY
    const next = allowed && cost > 0 ? [after] : undefined
    const remaining = Math.max(0, limit - after)
    return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  function refund(state: State, _nowMs: number, cost: number): State | undefined {
    const count = state[0] as number
    if (cost === 0) return state
    return count > cost ? [count - cost] : undefined
  }

  return Object.freeze({
    kind: 'consecutive' as const,
    name,
    limit,
    windowMs: Number.POSITIVE_INFINITY,
    width: 1,
    params: Object.freeze([limit]),
    take,
    refund,
    scaled: (share: number) => makeConsecutive(name, shareOf(limit, share)),
  })
}
