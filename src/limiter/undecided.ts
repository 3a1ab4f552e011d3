import { readDecided } from '../pipe/decided-units.js'
import type { TrackedResult } from '../pipe/track-undecided.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Decision, receiptOf } from './decision.js'

/**
 * Records that the outcome of a request is known. The units of its decision that are not refunded count. The
 * promise resolves once other processes know it.
 */
export function endUndecided(decision: Decision): Promise<unknown> | undefined {
  const receipt = receiptOf(decision)
  const result: TrackedResult | undefined = receipt?.result
  const ended = result?.endUndecided?.()
  thenMaybe(receipt?.candidate, (candidate) => candidate && endUndecided(candidate as Decision))
  return ended
}

/** Returns whether only units of undecided requests caused a denial. */
export function isUndecidedDenial(decision: Decision): boolean {
  const result: TrackedResult | undefined = receiptOf(decision)?.result
  return result?.isUndecided === true
}

/**
 * Reads how many units of some limits of a decision are in use now, at least, without the units of undecided
 * requests. Includes requests charged since the decision.
 */
export function decidedUnits(
  decision: Decision,
  limitNames: readonly string[],
): MaybePromise<readonly number[]> {
  const { parts = [], result } = receiptOf(decision) ?? {}
  const tracked: TrackedResult | undefined = result
  const namedParts = parts.filter(({ name }) => limitNames.includes(name))
  const undecided = tracked?.undecided
  return namedParts.length === 0 || undecided === undefined ? [] : readDecided(undecided, namedParts)
}
