import { RecentMap } from '../util/recent-map.js'
import { chargeOf, type Decision, decidedAtMs, type NamedPart, type PartDecision } from './decision.js'

/** The percentage of a limit from which a client is near it. */
const NEAR_PERCENT = 80
/** So many clients are remembered, at most twice as many: those who came near a limit most recently. */
const MIN_CLIENTS = 10_000
/** For how long a client is remembered where a limit has no window, such as `consecutive`. */
const ENDLESS_MS = 60 * 60 * 1000
/** The kinds of policies whose quota comes back all at once. */
const FIXED = /^(ban-)?(fixed|first-request)-window$/

/** Returns whether a client has used 80 % of a limit. */
export function isNearLimit({ limit, remaining }: Pick<Decision, 'limit' | 'remaining'>): boolean {
  return (limit - remaining) * 100 >= limit * NEAR_PERCENT
}

/**
 * Creates the function that returns the limits of which an allowed charge has used 80 %: once for each key
 * and window. It is the charge that crosses the 80 %, so only clients who do are remembered.
 */
export function nearLimitDetector(): (decision: Decision) => readonly PartDecision[] {
  const quietUntilMs = new RecentMap<number>(MIN_CLIENTS)
  return function nearLimits(decision) {
    if (!decision.allowed) return []
    const crossed = decision.parts.filter(
      ({ limit, remaining, cost }) =>
        isNearLimit({ limit, remaining }) && !isNearLimit({ limit, remaining: remaining + cost }),
    )
    if (crossed.length === 0) return crossed
    const nowMs = decidedAtMs(decision) ?? Date.now()
    return crossed.filter((part) => {
      const charged = chargeOf(decision)?.[decision.parts.indexOf(part)]
      if (charged === undefined || (quietUntilMs.get(charged.key) ?? 0) > nowMs) return false
      quietUntilMs.set(charged.key, nowMs + windowLeftMs(part, charged))
      return true
    })
  }
}

/** Returns for how long a limit's window goes on: a fixed one ends where it ends, others slide. */
function windowLeftMs({ windowMs, resetAfterMs }: PartDecision, { policy }: NamedPart): number {
  if (windowMs === Number.POSITIVE_INFINITY) return ENDLESS_MS
  return FIXED.test(policy.kind) ? Math.min(windowMs, resetAfterMs) : windowMs
}
