import type { Policy, State } from '../../policies/policy.js'

const MINUTE_MS = 60_000
/** A row that is kept for longer than needed costs room, and an expiry that changes costs a write to the index. */
const STEPS_PER_WINDOW = 8
/** For what never expires: the end of the year 9999. */
export const NEVER_S = 253_402_300_799

/** Expiries of a policy are rounded up to so many seconds: an eighth of its window, at least a minute. */
export function expiryStepS({ windowMs }: Policy): number {
  return Math.ceil(
    Math.max(MINUTE_MS, windowMs === Number.POSITIVE_INFINITY ? 0 : windowMs / STEPS_PER_WINDOW) / 1000,
  )
}

/** When a row may be removed, in whole seconds since the Unix epoch, rounded up. */
export function expiryS(policy: Policy, state: State, nowMs: number): number {
  const { resetAfterMs } = policy.take(state, nowMs, 0)
  if (resetAfterMs === Number.POSITIVE_INFINITY) return NEVER_S
  const stepS = expiryStepS(policy)
  return (Math.floor((nowMs + resetAfterMs) / 1000 / stepS) + 1) * stepS
}
