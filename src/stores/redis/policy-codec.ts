import type { Policy } from '../../policies/policy.js'
import type { Script } from './lua/prelude.js'
import { chargeOnePolicy } from './lua/single-policy.js'

/** A policy as the scripts read it. */
export interface PackedPolicy {
  readonly params: readonly string[]
  /** For scripts that take several policies. */
  readonly json: string
  /** The script for batches of this policy alone. */
  readonly script: Script
}

const known = new WeakMap<Policy, PackedPolicy>()

export function packedPolicy(policy: Policy): PackedPolicy {
  const before = known.get(policy)
  if (before !== undefined) return before
  const { kind, width, params } = policy
  const json = JSON.stringify([kind, width, ...params])
  const packed = { params: params.map(String), json, script: chargeOnePolicy(policy) }
  known.set(policy, packed)
  return packed
}
