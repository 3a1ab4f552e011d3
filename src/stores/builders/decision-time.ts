import type { Policy, State } from '../../policies/policy.js'

/** The most that a clock may be ahead for its time to be used for a state that it wrote. */
export const MAX_SKEW_MS = 1000

/**
 * Returns the time at which to read a state. That is the time of this process's clock, unless the policy
 * would then clamp the state.
 *
 * If a process whose clock is slightly ahead wrote the state, it is the earliest time at which the policy
 * does not clamp it. Otherwise the two processes would keep freeing each other's units while both write. A
 * state from further ahead is clamped, because its clock was wrong.
 */
export function decisionTime(policy: Policy, state: State | undefined, clockMs: number): number {
  const isPossible = (aheadMs: number) => policy.clampToNow(state, clockMs + aheadMs) === state
  if (isPossible(0) || !isPossible(MAX_SKEW_MS)) return clockMs
  let [tooEarly, possible] = [0, MAX_SKEW_MS] // whole numbers, so the search always ends
  while (possible - tooEarly > 1) {
    const middle = Math.floor((tooEarly + possible) / 2)
    if (isPossible(middle)) possible = middle
    else tooEarly = middle
  }
  return clockMs + possible
}
