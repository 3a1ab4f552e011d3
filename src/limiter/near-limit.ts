import { baseOf } from '../policies/spec.js'
import { RecentMap } from '../util/recent-map.js'
import { type Decision, type PartDecision, receiptOf } from './decision.js'
import type { NamedPart } from './receipt.js'

/** The percentage of a limit from which a client is near it. */
const NEAR_PERCENT = 80
/** At least this many clients are remembered: those that came near a limit most recently. */
const MIN_CLIENTS = 10_000
/** For how long a client is remembered if a limit has no window, such as `consecutive`. */
const ENDLESS_MS = 60 * 60 * 1000
const NONE: readonly PartDecision[] = []
/** The kinds of policies whose quota comes back all at once. */
const FIXED = /^((fixed|first-request)-window|quota)$/

/** Returns whether a client has used 80% of a limit. */
export function isNearLimit({ limit, remaining }: Pick<Decision, 'limit' | 'remaining'>): boolean {
  return (limit - remaining) * 100 >= limit * NEAR_PERCENT
}

/** Returns whether the limits of a decision are those of a client. An overload guard has one for all clients. */
export function isOfClient({ source }: Pick<Decision, 'source'>): boolean {
  return source !== 'overload'
}

/**
 * Creates the function that returns the limits that a client is near after an allowed charge: once for each
 * key and window, whether this charge has crossed the 80% or an adjustment before it.
 */
export function nearLimitDetector(): (decision: Decision) => readonly PartDecision[] {
  const quietUntilMs = new RecentMap<number>(MIN_CLIENTS)
  return function nearLimits(decision) {
    if (!decision.allowed || !isOfClient(decision)) return NONE
    const near = decision.parts.filter((part) => part.cost > 0 && isNearLimit(part))
    if (near.length === 0) return NONE
    const receipt = receiptOf(decision)
    const nowMs = receipt?.result?.atMs ?? Date.now()
    return near.filter((part) => {
      const charged = receipt?.parts[decision.parts.indexOf(part)]
      if (charged === undefined || (quietUntilMs.get(charged.key) ?? 0) > nowMs) return false
      quietUntilMs.set(charged.key, nowMs + windowLeftMs(part, charged))
      return true
    })
  }
}

/** Returns how long a limit's window lasts from now. A fixed window has an end, and others slide. */
function windowLeftMs({ windowMs, resetAfterMs }: PartDecision, { policy }: NamedPart): number {
  if (windowMs === Number.POSITIVE_INFINITY) return ENDLESS_MS
  return FIXED.test(baseOf(policy.spec).kind) ? Math.min(windowMs, resetAfterMs) : windowMs
}
