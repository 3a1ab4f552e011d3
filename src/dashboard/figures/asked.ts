import type { Decision, PartDecision } from '../../limiter/decision.js'
import type { Receipt, UnitsWatch } from '../../limiter/receipt.js'
import type { PartResult, Refund, TakeResult } from '../../stores/operation.js'
import type { Asked, Demands } from './demands.js'

/**
 * Returns what a part of a decision says of its client's demand. A ban denies what its limit may have allowed, and its
 * figures hide those of the limit. The denial that starts it is one of the limit, and counts.
 */
export function askedOf(
  part: PartDecision,
  source: Decision['source'],
  result: PartResult | undefined,
): Asked {
  const { cost, limit, remaining, debt = 0, allowed } = part
  const { isBanned, isCounted } = result ?? {}
  const isKnown = source === 'store' && isBanned === undefined
  const isDenied = !allowed && source !== 'deny-cache' && (isBanned === undefined || isCounted === true)
  return { units: cost, used: isKnown ? limit - remaining + debt + (allowed ? 0 : cost) : 0, isDenied }
}

/** Adds a watch to those that are told what changes the units of a decision. */
export function watchUnits(receipt: Receipt, watch: UnitsWatch): void {
  const { unitsWatch: other } = receipt
  if (other === undefined) receipt.unitsWatch = watch
  else
    receipt.unitsWatch = (part, change) => {
      other(part, change)
      watch(part, change)
    }
}

/** Counts a change of the units that a decision has taken. */
export function changeUnits(
  demands: Demands,
  identity: string,
  change: Refund | TakeResult,
  nowMs: number,
): void {
  if (change.type === 'refund') demands.refund(nowMs, identity, change)
  else demands.addLater(change.atMs, identity, change.taken)
}
