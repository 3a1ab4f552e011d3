import { show } from '../../util/validate.js'
import type { KeyedPolicy } from '../store.js'
import { LUA_POLICIES } from './lua/policies.js'

/** Throws a `TypeError` for a policy that has no script, before it comes into a batch, where it would spoil the items of others. */
export function checkPolicies(held: readonly KeyedPolicy[]): void {
  for (const { policy } of held) {
    if (LUA_POLICIES[policy.kind] !== undefined) continue
    const known = Object.keys(LUA_POLICIES).join(', ')
    throw new TypeError(
      `redisStore: there is no script for a policy of kind ${show(policy.kind)}, only for ${known}.`,
    )
  }
}
