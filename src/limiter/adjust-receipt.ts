import { baseOf } from '../policies/spec.js'
import type { ChargeResult, Refund, Take } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import { isUnsent } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import type { Apply, Ledger, NamedPart, Receipt } from './receipt.js'

/** Refunds the units of a decision, once. `names` restricts it to those limits. */
export function refundReceipt(receipt: Receipt | undefined, names?: readonly string[]): MaybePromise<void> {
  if (!receipt?.isRefundable) return undefined
  receipt.isRefundable = false
  return ledgerOf(receipt)?.refund(names)
}

/**
 * Changes the units taken from each limit to `cost`, or as close as the limit allows. `names` restricts it.
 */
export function adjustReceipt(
  receipt: Receipt | undefined,
  cost: number,
  names?: readonly string[],
): MaybePromise<void> {
  return receipt?.isRefundable ? ledgerOf(receipt)?.adjust(cost, names) : undefined
}

/** Returns the ledger of a receipt; `undefined` if nothing was charged. */
function ledgerOf(receipt: Receipt): Ledger | undefined {
  if (receipt.ledger !== undefined) return receipt.ledger
  const { parts, result, apply } = receipt
  if (result !== undefined && apply !== undefined) receipt.ledger = createLedger(parts, result, apply)
  return receipt.ledger
}

/** Creates the ledger of an allowed charge. It never changes `concurrency` units: those are released. */
function createLedger(parts: readonly NamedPart[], result: ChargeResult, apply: Apply): Ledger {
  /** By part: the refunds of the units that it still has, of its charge first, then of adjustments. */
  const refundsByPart = refundsOf(parts, result).map((refund): readonly Refund[] => [refund])
  let pendingChange: MaybePromise<void>

  function adjustPart(i: number, cost: number): MaybePromise<void> {
    const missing = cost - unitsOf(i)
    if (missing < 0) return giveBack(i, -missing)
    return missing > 0 ? takeMore(i, missing) : undefined
  }

  const unitsOf = (i: number) => refundsAt(i).reduce((sum, { cost }) => sum + cost, 0)
  const refundsAt = (i: number) => refundsByPart[i] ?? []

  function takeMore(i: number, units: number): MaybePromise<void> {
    const part = parts[i]
    if (part === undefined) return undefined
    const { key, policy } = part
    return thenMaybe(apply<Take>({ type: 'take', key, policy, units }), (result) => {
      const { atMs, taken: cost, resetAfterMs, unitsAfterMs = resetAfterMs } = result
      const times = { takenAtMs: atMs, resetAtMs: atMs + unitsAfterMs }
      refundsByPart[i] = [...refundsAt(i), { type: 'refund', key, policy, cost, ...times }]
    })
  }

  /**
   * Refunds units of a part. If that fails, they count as refunded, unless the operation was never sent.
   */
  function giveBack(i: number, units: number): MaybePromise<void> {
    const { kept, refunds } = split(refundsAt(i), units)
    refundsByPart[i] = kept
    return settleAll(refunds, (refund) =>
      catchMaybe<unknown>(
        () => apply(refund),
        (error) => {
          if (isUnsent(error)) refundsByPart[i] = [...refundsAt(i), refund]
          throw error
        },
      ),
    )
  }

  /** Returns the indexes of the parts of these limits, or of all without names. */
  const selectParts = (names: readonly string[] | undefined) =>
    [...parts.entries()]
      .filter(([, { name, policy }]) => !policy.holdsUnits && names?.includes(name) !== false)
      .map(([i]) => i)

  /** Runs changes in order, since each depends on the one before. */
  function runInOrder(step: () => MaybePromise<void>): MaybePromise<void> {
    pendingChange = isPromise(pendingChange) ? pendingChange.then(step, step) : step()
    return pendingChange
  }

  return {
    adjust: (cost, names) => runInOrder(() => settleAll(selectParts(names), (i) => adjustPart(i, cost))),
    refund: (names) =>
      runInOrder(() => settleAll(selectParts(names), (i) => giveBack(i, Number.POSITIVE_INFINITY))),
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
