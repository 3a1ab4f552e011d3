import type { Policy } from '../../policies/policy.js'

const MINUTE_MS = 60_000
/** Rows are kept a little longer than needed, since each new expiry costs a write to the index. */
const STEPS_PER_WINDOW = 8
/** The expiry of a state that never expires: the end of the year 9999. */
export const NEVER_S = 253_402_300_799

/** Returns the step of a policy's expiries, in seconds: an eighth of its window, at least a minute. */
export function expiryStepS({ windowMs }: Policy): number {
  const stepMs = Number.isFinite(windowMs) ? windowMs / STEPS_PER_WINDOW : 0
  return Math.ceil(Math.max(MINUTE_MS, stepMs) / 1000)
}

/**
 * Returns when a row may be removed whose state expires at `expiresAtMs`, in whole seconds since the Unix
 * epoch.
 */
export function expiryS(policy: Policy, expiresAtMs: number): number {
  if (expiresAtMs === Number.POSITIVE_INFINITY) return NEVER_S
  const stepS = expiryStepS(policy)
  return (Math.floor(expiresAtMs / 1000 / stepS) + 1) * stepS
}
