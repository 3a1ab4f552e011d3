import type { Policy } from '../../policies/policy.js'
import { weakMemo } from '../../util/memo.js'
import { show } from '../../util/validate.js'
import { LUA_POLICIES } from './lua/policies.js'
import type { Script } from './lua/prelude.js'
import { singlePolicyScript } from './lua/single-policy.js'

/** A policy as the scripts read it. */
export interface EncodedPolicy {
  readonly params: readonly string[]
  /** For scripts that take several policies. */
  readonly json: string
  /** The script for batches of this policy alone. */
  readonly script: Script
}

/** Encodes a policy. Throws a `TypeError` for one that has no script. */
export const encodePolicy = weakMemo((policy: Policy): EncodedPolicy => {
  const { kind, width, params } = policy
  if (!Object.hasOwn(LUA_POLICIES, kind)) {
    const known = Object.keys(LUA_POLICIES).join(', ')
    throw new TypeError(
      `redisStore: there is no script for a policy of kind ${show(kind)}, only for ${known}.`,
    )
  }
  const json = JSON.stringify([kind, width, ...params])
  return { params: params.map(String), json, script: singlePolicyScript(policy) }
})
