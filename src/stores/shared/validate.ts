import { show } from '../../util/validate.js'
import type { Charge, Part, Refund } from '../store.js'

/** Throws a `TypeError` for an invalid cost, which would fail a whole batch. */
export function checkCosts(owner: string, charge: Charge): void {
  for (const part of charge) checkCost(owner, part)
}

/** Throws a `TypeError` for a refund with an invalid cost or time. */
export function checkRefunds(owner: string, refunds: readonly Refund[]): void {
  for (const refund of refunds) {
    checkCost(owner, refund)
    if (Number.isFinite(refund.takenAtMs)) continue
    throw new TypeError(`${owner}: takenAtMs must be a time in milliseconds, got ${show(refund.takenAtMs)}.`)
  }
}

function checkCost(owner: string, { cost }: Part): void {
  if (Number.isSafeInteger(cost) && cost >= 0) return
  throw new TypeError(`${owner}: a cost must be a whole number of at least 0, got ${show(cost)}.`)
}
