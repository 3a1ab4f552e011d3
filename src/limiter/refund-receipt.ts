import { refundsOf } from '../stores/shared/refunds.js'
import { type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
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
  const charged = refundsOf(parts, result).flatMap((refund, i) => {
    const part = parts[i]
    return refund.cost > 0 && isRefunded(part, names) ? [{ part, refund }] : []
  })
  return settleAll(charged, ({ part, refund }) =>
    thenMaybe(apply(refund), () => receipt.unitsWatch?.(part, refund)),
  )
}

/** Returns whether a part is among these limits, and its units are refunded, not released. */
export function isRefunded(
  part: NamedPart | undefined,
  names: readonly string[] | undefined,
): part is NamedPart {
  return part !== undefined && !part.policy.holdsUnits && names?.includes(part.name) !== false
}
