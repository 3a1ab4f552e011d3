import type { Charge, Refund, Verdict } from '../store.js'
import { onePolicyCall } from './one-policy-call.js'
import type { ScriptCall } from './script-call.js'
import { chargeCall, lookCall, refundCall } from './several-policies-call.js'

/** What can be done with items, all those of one place in one call of a script. */
export interface Work<Item, Result> {
  /** A key of the item; all its keys share a place. */
  keyOf(item: Item): string
  callFor(items: readonly Item[]): ScriptCall<Result>
}

const firstKey = (charge: Charge) => charge[0]?.key ?? ''

/** Takes what charges want. */
export const TAKING: Work<Charge, Verdict> = {
  keyOf: firstKey,
  callFor: (charges) => onePolicyCall(charges) ?? chargeCall(charges),
}

/** Takes nothing, and tells what charges would find. */
export const LOOKING: Work<Charge, Verdict> = { keyOf: firstKey, callFor: lookCall }

/** Gives units back. */
export const REFUNDING: Work<Refund, true> = { keyOf: ({ key }) => key, callFor: refundCall }
