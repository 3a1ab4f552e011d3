import type { Policy } from '../../policies/policy.js'
import { flattenSpec } from '../../policies/spec.js'
import { weakMemo } from '../../util/memo.js'
import { show } from '../../util/validate.js'
import { LUA_POLICIES } from './lua/policies.js'
import { singlePolicyScript } from './lua/single-policy.js'

/**
 * Returns a policy as scripts read it: its params, JSON for scripts that read several policies, and the
 * script for charges of this policy alone. Throws a `TypeError` for a kind that scripts do not know.
 */
export const encodePolicy = weakMemo(({ spec, width }: Policy) => {
  const { kind, params } = flattenSpec(spec)
  if (!Object.hasOwn(LUA_POLICIES, kind)) {
    const kinds = Object.keys(LUA_POLICIES).join(', ')
    throw new TypeError(`redisStore: a policy's kind must be one of ${kinds}, got ${show(kind)}.`)
  }
  const json = JSON.stringify([kind, width, ...params])
  return { params: params.map(String), json, script: singlePolicyScript(kind, width, params.length) }
})
