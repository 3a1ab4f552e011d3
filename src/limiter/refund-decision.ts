import { type MaybePromise, settleAll } from '../util/maybe-promise.js'
import type { ChangeCore } from './candidate/candidate.js'
import type { ChargeContext } from './charge-limits.js'
import { type Decision, receiptOf } from './decision.js'
import { refundReceipt } from './refund-receipt.js'

/** Refunds the units of a decision, once. `names` restricts it to those limits. */
export function refundDecision(
  limiter: ChargeContext,
  decision: Decision,
  names?: readonly string[],
): MaybePromise<void> {
  return changeBoth(limiter, decision, names, (_, charged) => refundReceipt(receiptOf(charged), names))
}

/**
 * Makes a change to the limits in force, and to what the candidate has counted of the same subject or
 * decision. With `names` of limits, changes only those in force.
 */
export function changeBoth<Target>(
  { core, candidate }: ChargeContext,
  target: Target,
  names: readonly string[] | undefined,
  change: ChangeCore<Target>,
): MaybePromise<void> {
  if (candidate === undefined || names !== undefined) return change(core, target)
  const changes = [() => change(core, target), () => candidate.change(target, change)]
  return settleAll(changes, (each) => each())
}
