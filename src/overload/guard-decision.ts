import { type Decision, LimiterDecision, type PartDecision } from '../limiter/decision.js'
import type { NamedPart, Receipt } from '../limiter/receipt.js'
import type { ProcessGuard } from './process-guard.js'

/** The name of the limit in decisions, events and metrics. */
export const LIMIT_NAME = 'overload'

/**
 * Returns the decision on a request, which has taken a place unless it is denied. `parts` say whose it is.
 */
export function guardDecision(
  guard: ProcessGuard,
  allowed: boolean,
  parts: readonly NamedPart[],
  holding?: Receipt['holding'],
  cost = 1,
): Decision {
  const { places, running } = guard
  const laterMs = running > 0 ? Number.POSITIVE_INFINITY : 0 // time brings no place back
  const part: PartDecision = {
    name: LIMIT_NAME,
    limit: places,
    windowMs: Number.POSITIVE_INFINITY,
    cost,
    allowed,
    remaining: allowed ? Math.max(0, places - running) : 0,
    resetAfterMs: laterMs,
    retryAfterMs: allowed ? 0 : guard.retryAfterMs(),
    moreAfterMs: laterMs,
    quotaUnit: 'concurrent-requests',
  }
  const receipt: Receipt = { parts, isRefundable: false, ...(holding && { holding }) }
  return new LimiterDecision(part, allowed, [part], 'overload', receipt)
}
