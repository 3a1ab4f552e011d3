import type { Policy } from '../../policies/policy.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import { multiPolicyCall, refundCall } from './multi-policy-call.js'
import { encodePolicy } from './policy-codec.js'
import type { ScriptCall } from './script-call.js'
import { singlePolicyCall } from './single-policy-call.js'

/** An operation that a script runs on a batch of items. */
export interface Operation<Item, Result> {
  /** Returns one of the item's keys, which share a shard. */
  keyOf(item: Item): string
  /** Returns the rule by which items go in separate calls. `undefined` or absent: all go in one. */
  groupingOf?(items: readonly Item[]): ((item: Item) => unknown) | undefined
  callFor(items: readonly Item[]): ScriptCall<Result>
}

const firstKey = (charge: Charge) => charge[0]?.key ?? ''

export const CHARGE: Operation<Charge, Verdict> = {
  keyOf: firstKey,
  groupingOf: groupingByPolicy,
  callFor: (charges) => singlePolicyCall(charges) ?? multiPolicyCall(charges),
}

export const REFUND: Operation<Refund, true> = {
  keyOf: ({ key }) => key,
  callFor: refundCall,
}

/**
 * Groups charges of one part by policy, since the script for one policy takes little more than half the
 * time. Charges of several parts, and all that share a key with them or with another policy, stay together,
 * to be decided in order.
 */
function groupingByPolicy(charges: readonly Charge[]): ((charge: Charge) => unknown) | undefined {
  const policy = charges[0]?.[0]?.policy
  if (charges.every((charge) => charge.length === 1 && charge[0]?.policy === policy)) return undefined
  const shared = new Set<string>()
  const policyOf = new Map<string, Policy>()
  for (const charge of charges) {
    for (const { key, policy } of charge) {
      if (charge.length > 1 || (policyOf.get(key) ?? policy) !== policy) shared.add(key)
      policyOf.set(key, policy)
    }
  }
  return (charge) =>
    charge.length === 1 && !shared.has(firstKey(charge))
      ? encodePolicy((charge[0] as Part).policy).json
      : 'several policies'
}
