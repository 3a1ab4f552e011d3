import type { Policy, State } from '../../policies/policy.js'

/** How far the clocks of two processes may be apart for a state to keep to the one that is ahead. */
export const MAX_SKEW_MS = 1000

/**
 * Returns the time at which a state is read: this process's, or, if a process whose clock is slightly ahead
 * wrote the state, the earliest time at which its policy does not clamp it. If it was clamped, the two
 * processes would keep freeing each other's units while both write. A state from further ahead is clamped:
 * its clock was wrong.
 */
export function timeFor(policy: Policy, state: State | undefined, nowMs: number): number {
  if (policy.clampToNow(state, nowMs) === state) return nowMs
  const isPossible = (atMs: number) => policy.clampToNow(state, atMs) === state
  if (!isPossible(nowMs + MAX_SKEW_MS)) return nowMs
  let tooEarlyMs = nowMs
  let possibleMs = nowMs + MAX_SKEW_MS
  while (possibleMs - tooEarlyMs > 1) {
    const middleMs = Math.floor((tooEarlyMs + possibleMs) / 2)
    if (isPossible(middleMs)) possibleMs = middleMs
    else tooEarlyMs = middleMs
  }
  return possibleMs
}
