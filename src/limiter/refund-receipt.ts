import { refundsOf } from '../stores/shared/refunds.js'
import { type MaybePromise, settleAll } from '../util/maybe-promise.js'
import type { NamedPart, Receipt } from './receipt.js'

/**
 * Refunds the units of a decision, once. `names` restricts it to those limits. If the units were adjusted,
 * their ledger knows what is left of them.
 */
export function refundReceipt(receipt: Receipt | undefined, names?: readonly string[]): MaybePromise<void> {
  if (!receipt?.isRefundable) return undefined
  receipt.isRefundable = false
  const { parts, result, apply, ledger } = receipt
  if (ledger !== undefined) return ledger(0, names)
  if (result === undefined || apply === undefined) return undefined
  const charged = refundsOf(parts, result).filter(({ cost }, i) => cost > 0 && isRefunded(parts[i], names))
  return settleAll(charged, (refund) => apply(refund))
}

/** Returns whether a part is among these limits, and its units are refunded, not released. */
export function isRefunded(part: NamedPart | undefined, names: readonly string[] | undefined): boolean {
  return part !== undefined && !part.policy.holdsUnits && names?.includes(part.name) !== false
}
