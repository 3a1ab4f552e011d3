import type { Policy, State } from './policy.js'
import { policyFromSpec } from './policy-from-spec.js'
import { baseOf, type PolicySpec } from './spec.js'

type Kind = Exclude<PolicySpec['kind'], 'ban'>

/** Which numbers of its spec a state has, by the kind of policy that wrote it. */
const NUMBERS: {
  readonly [K in Kind]: (state: State) => Partial<Extract<PolicySpec, { readonly kind: K }>>
} = {
  'token-bucket': ([capacity = 0, intervalMs = 0, , debt = 0]) => ({ capacity, intervalMs, debt }),
  'sliding-window': ([limit = 0, windowMs = 0, slices = 0]) => ({ limit, windowMs, slices }),
  'fixed-window': ([limit = 0, windowMs = 0]) => ({ limit, windowMs }),
  'first-request-window': ([limit = 0, windowMs = 0]) => ({ limit, windowMs }),
  consecutive: ([limit = 0]) => ({ limit }),
  concurrency: ([ttlMs = 0]) => ({ ttlMs }),
}

/**
 * Returns a policy with the numbers that a state was written under. A state lacks the rules of a ban and the
 * limit of `concurrency`: these are the policy's. Returns `undefined` if no policy has such numbers, and the
 * policy itself if headgate does not know its kind.
 */
export function policyOfState(policy: Policy, state: State): Policy | undefined {
  const { spec } = policy
  const base = baseOf(spec)
  if (!Object.hasOwn(NUMBERS, base.kind)) return policy
  const own = { ...base, ...NUMBERS[base.kind](state) } as typeof base
  try {
    return policyFromSpec(spec.kind === 'ban' ? ({ ...spec, base: own } as PolicySpec) : own)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
