import type { MaybePromise } from '../util/maybe-promise.js'
import { adjustReceipt } from './adjust-receipt.js'
import type { ChargeContext } from './charge-limits.js'
import { type Decision, receiptOf } from './decision.js'
import { changeBoth } from './refund-decision.js'

/** Corrects the cost of a decision to `cost`. `names` restricts it to those limits. */
export function adjustDecision(
  limiter: ChargeContext,
  decision: Decision,
  cost: number,
  names?: readonly string[],
): MaybePromise<void> {
  return changeBoth(limiter, decision, names, (_, charged) => adjustReceipt(receiptOf(charged), cost, names))
}
