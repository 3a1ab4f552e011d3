import type { Policy, State } from './policy.js'
import { policyFromSpec } from './policy-from-spec.js'
import { baseOf, type PolicySpec } from './spec.js'

type Kind = Exclude<PolicySpec['kind'], 'ban' | 'quota'>

/** Reads the numbers of the spec that a state includes, by the kind of the policy that wrote it. */
const NUMBERS: {
  readonly [K in Kind]: (state: State) => Partial<Extract<PolicySpec, { readonly kind: K }>>
} = {
  'token-bucket': ([capacity = 0, intervalMs = 0, , debt = 0]) => ({ capacity, intervalMs, debt }),
  'sliding-window': ([limit = 0, windowMs = 0, slices = 0]) => ({ limit, windowMs, slices }),
  'sliding-log': ([limit = 0, windowMs = 0]) => ({ limit, windowMs }),
  'fixed-window': ([limit = 0, windowMs = 0]) => ({ limit, windowMs }),
  'first-request-window': ([limit = 0, windowMs = 0]) => ({ limit, windowMs }),
  consecutive: ([limit = 0]) => ({ limit }),
  concurrency: ([ttlMs = 0]) => ({ ttlMs }),
}

/**
 * Returns a policy with the numbers that a state was written under. A state does not include the rules of a
 * ban or the limit of `concurrency`, so these come from `policy`. A state of a quota does not include the
 * calendar, so the policy is a window from the first request, which decides alike until the period ends.
 * Returns `undefined` if no policy can have such numbers, and `policy` itself if headgate does not know its
 * kind.
 */
export function policyOfState(policy: Policy, state: State): Policy | undefined {
  const { spec } = policy
  const base = baseOf(spec)
  if (base.kind !== 'quota' && !Object.hasOwn(NUMBERS, base.kind)) return policy
  const own = base.kind === 'quota' ? windowOf(base, state) : { ...base, ...NUMBERS[base.kind](state) }
  try {
    return policyFromSpec((spec.kind === 'ban' ? { ...spec, base: own } : own) as PolicySpec)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Returns the spec of a window as long as the period in a quota's state. */
function windowOf(spec: Extract<PolicySpec, { readonly kind: 'quota' }>, state: State): PolicySpec {
  const { per: _per, timeZone: _timeZone, startsOn: _startsOn, ...rules } = spec
  const [limit = 0, lengthMs = 0] = state
  const windowMs = lengthMs || 1 // a ban that has counted no units has no period
  return { ...rules, kind: 'first-request-window', limit, windowMs }
}
