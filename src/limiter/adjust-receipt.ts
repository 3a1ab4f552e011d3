import { baseOf } from '../policies/spec.js'
import type { ChargeResult, Refund, Take, TakeResult } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import { isUnsent } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import type { Apply, Ledger, Receipt } from './receipt.js'
import { isRefunded } from './refund-receipt.js'

/**
 * Changes the units taken from each limit to `cost`, or as close as the limit allows. `names` restricts it.
 */
export function adjustReceipt(
  receipt: Receipt | undefined,
  cost: number,
  names?: readonly string[],
): MaybePromise<void> {
  return receipt?.isRefundable ? ledgerOf(receipt)?.(cost, names) : undefined
}

/** Returns the ledger of a receipt; `undefined` if nothing was charged. */
function ledgerOf(receipt: Receipt): Ledger | undefined {
  const { result, apply } = receipt
  if (result !== undefined && apply !== undefined) receipt.ledger ??= createLedger(receipt, result, apply)
  return receipt.ledger
}

/** Creates the ledger of an allowed charge. It never changes `concurrency` units: those are released. */
function createLedger(receipt: Receipt, result: ChargeResult, apply: Apply): Ledger {
  const { parts } = receipt
  const charges = refundsOf(parts, result)
  const ledgers = parts.map((part, i) => {
    const onChange = (change: Refund | TakeResult) => receipt.unitsWatch?.(part, change)
    return { part, change: partLedger(charges[i] as Refund, apply, onChange) }
  })
  let pendingChange: MaybePromise<void>

  return (cost, names) => {
    const changed = ledgers.filter(({ part }) => isRefunded(part, names))
    const step = () => settleAll(changed, ({ change }) => change(cost))
    // In order, since each change depends on the one before.
    pendingChange = isPromise(pendingChange) ? pendingChange.then(step, step) : step()
    return pendingChange
  }
}

/** Creates the ledger of a part, from the refund of its charge. */
function partLedger(
  charge: Refund,
  apply: Apply,
  onChange: (change: Refund | TakeResult) => void,
): (cost: number) => MaybePromise<void> {
  const { key, policy } = charge
  /** Of the units that the part still has: those of its charge first, then those of adjustments. */
  let refunds: readonly Refund[] = [charge]

  return (cost) => {
    const missing = refunds.reduce((units, taken) => units - taken.cost, cost)
    return missing > 0 ? takeMore(missing) : giveBack(-missing)
  }

  function takeMore(units: number): MaybePromise<void> {
    return thenMaybe(apply<Take>({ type: 'take', key, policy, units }), (result) => {
      const { atMs, taken: cost, resetAfterMs, unitsAfterMs = resetAfterMs } = result
      const times = { takenAtMs: atMs, resetAtMs: atMs + unitsAfterMs }
      refunds = [...refunds, { type: 'refund', key, policy, cost, ...times }]
      onChange(result)
    })
  }

  /** Refunds units. If that fails, they count as refunded, unless the operation was never sent. */
  function giveBack(units: number): MaybePromise<void> {
    const { kept, refunds: latest } = split(refunds, units)
    refunds = kept
    return settleAll(latest, (refund) =>
      catchMaybe<unknown>(
        () => thenMaybe(apply(refund), () => onChange(refund)),
        (error) => {
          if (isUnsent(error)) refunds = [...refunds, refund]
          throw error
        },
      ),
    )
  }
}

/** Splits refunds into those of `units`, the latest first, and the rest to keep. */
function split(refundsOfPart: readonly Refund[], units: number) {
  const kept = [...refundsOfPart]
  const refunds: Refund[] = []
  for (let left = units; left > 0; ) {
    const latest = kept.pop()
    if (latest === undefined) break
    const cost = Math.min(latest.cost, left)
    if (cost > 0) refunds.push({ ...latest, cost })
    if (cost < latest.cost) kept.push(restOf(latest, cost))
    left -= cost
  }
  return { kept, refunds }
}

/**
 * Returns the refund of the units that are left after `cost` of them were refunded. A bucket refills units
 * one after the other, so the refunded ones no longer delay the rest.
 */
function restOf(refund: Refund, cost: number): Refund {
  const { resetAtMs, policy } = refund
  const base = baseOf(policy.spec)
  const rest = { ...refund, cost: refund.cost - cost }
  if (resetAtMs === undefined || base.kind !== 'token-bucket') return rest
  return { ...rest, resetAtMs: resetAtMs - cost * base.intervalMs }
}
