import type { Policy, State } from '../../policies/policy.js'

/** How far the clocks of two processes may be apart for a state to keep to the one that is ahead. */
const MAX_SKEW_MS = 1000

/**
 * Returns the time at which to read a state: that of this process's clock, unless its policy would clamp the
 * state by it. If a process whose clock is slightly ahead wrote the state, it is the earliest time at which
 * the policy does not clamp it: otherwise the two processes would keep freeing each other's units while both
 * write. A state from further ahead is clamped: its clock was wrong.
 */
export function decisionTime(policy: Policy, state: State | undefined, clockMs: number): number {
  const isPossible = (aheadMs: number) => policy.clampToNow(state, clockMs + aheadMs) === state
  if (isPossible(0) || !isPossible(MAX_SKEW_MS)) return clockMs
  let [tooEarly, possible] = [0, MAX_SKEW_MS] // whole numbers, so that the search ends whatever the clock shows
  while (possible - tooEarly > 1) {
    const middle = Math.floor((tooEarly + possible) / 2)
    if (isPossible(middle)) possible = middle
    else tooEarly = middle
  }
  return clockMs + possible
}
