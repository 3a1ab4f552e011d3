import type { HeldResult } from '../pipe/hold-undecided.js'
import { thenMaybe } from '../util/maybe-promise.js'
import { type Decision, receiptOf } from './decision.js'

/** Says that the outcome of a request is known: what its decision took, and has not refunded, counts. */
export function endUndecided(decision: Decision): void {
  const receipt = receiptOf(decision)
  const result: HeldResult | undefined = receipt?.result
  result?.endUndecided?.()
  thenMaybe(receipt?.candidate, (candidate) => candidate && endUndecided(candidate as Decision))
}

/** Returns whether only units of requests denied a charge whose outcome is not known yet. */
export function isUndecidedDenial(decision: Decision): boolean {
  const result: HeldResult | undefined = receiptOf(decision)?.result
  return result?.isUndecided === true
}
