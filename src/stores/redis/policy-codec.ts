import type { Policy } from '../../policies/policy.js'
import { weakMemo } from '../../util/memo.js'
import { show } from '../../util/validate.js'
import { LUA_POLICIES } from './lua/policies.js'
import type { Script } from './lua/prelude.js'
import { singlePolicyScript } from './lua/single-policy.js'

/** A policy as scripts read it. */
export interface EncodedPolicy {
  readonly params: readonly string[]
  /** For scripts that read several policies. */
  readonly json: string
  /** The script for charges of this policy alone. */
  readonly script: Script
}

/** Returns an encoded policy. Throws a `TypeError` for a kind that scripts do not know. */
export const encodePolicy = weakMemo((policy: Policy): EncodedPolicy => {
  const { kind, width, params } = policy
  if (!Object.hasOwn(LUA_POLICIES, kind)) {
    const known = Object.keys(LUA_POLICIES).join(', ')
    throw new TypeError(`redisStore: a policy's kind must be one of ${known}, got ${show(kind)}.`)
  }
  const json = JSON.stringify([kind, width, ...params])
  return { params: params.map(String), json, script: singlePolicyScript(policy) }
})
