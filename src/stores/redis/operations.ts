import type { Policy } from '../../policies/policy.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import { chargeCall, refundCall } from './multi-policy-call.js'
import { packedPolicy } from './policy-codec.js'
import type { ScriptCall } from './script-call.js'
import { onePolicyCall } from './single-policy-call.js'

/** What can be done with items, by calls of scripts. */
export interface Work<Item, Result> {
  /** A key of the item; all its keys share a place. */
  keyOf(item: Item): string
  /** Tells the kinds of items apart that go in calls of their own; `undefined` where all go together. */
  kindsAmong(items: readonly Item[]): ((item: Item) => unknown) | undefined
  callFor(items: readonly Item[]): ScriptCall<Result>
}

const firstKey = (charge: Charge) => charge[0]?.key ?? ''
const together = () => undefined

/**
 * Charges of one part go by policy, since a script for one policy does a charge in little more than half the time. Those whose key
 * a charge of several parts names too, or one of another policy, go together, to be decided in order.
 */
function policiesAmong(charges: readonly Charge[]): ((charge: Charge) => unknown) | undefined {
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
      ? packedPolicy((charge[0] as Part).policy).json
      : 'several'
}

/** Takes what charges want. */
export const TAKING: Work<Charge, Verdict> = {
  keyOf: firstKey,
  kindsAmong: policiesAmong,
  callFor: (charges) => onePolicyCall(charges) ?? chargeCall(charges),
}

/** Gives units back. */
export const REFUNDING: Work<Refund, true> = {
  keyOf: ({ key }) => key,
  kindsAmong: together,
  callFor: refundCall,
}
