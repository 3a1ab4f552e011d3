import type { Policy } from './policy.js'

/**
 * Returns a policy that takes the times of a clock and decides by the system clock. `aheadAt` returns how far
 * the system clock is ahead at a time of the other. While one operation is applied, all of its times are the
 * same distance apart.
 */
export function shiftPolicy(policy: Policy, aheadAt: (nowMs: number) => number): Policy {
  const { block, bannedForMs } = policy
  return {
    ...policy,
    take: (state, nowMs, cost, mayOwe) => policy.take(state, nowMs + aheadAt(nowMs), cost, mayOwe),
    refund(state, nowMs, cost, takenAtMs, resetAtMs) {
      const ahead = aheadAt(nowMs)
      const resetMs = resetAtMs === undefined ? undefined : resetAtMs + ahead
      return policy.refund(state, nowMs + ahead, cost, takenAtMs + ahead, resetMs)
    },
    reward: (state, nowMs, units) => policy.reward(state, nowMs + aheadAt(nowMs), units),
    clampToNow: (state, nowMs) => policy.clampToNow(state, nowMs + aheadAt(nowMs)),
    ...(block && { block: (state, nowMs, forMs) => block(state, nowMs + aheadAt(nowMs), forMs) }),
    ...(bannedForMs && { bannedForMs: (state, nowMs) => bannedForMs(state, nowMs + aheadAt(nowMs)) }),
  }
}
