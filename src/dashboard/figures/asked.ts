import type { Decision, PartDecision } from '../../limiter/decision.js'
import type { PartResult } from '../../stores/operation.js'
import type { Asked } from './demands.js'

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
