import type { Limit } from '../../limiter/resolve-parts.js'

/** Returns the longest block that every ban among some limits can keep; 0 if none is a ban. */
export function longestBlockOf(limits: Iterable<Limit>): number {
  const bansMs = Array.from(limits).flatMap(({ policy }) => policy.longestBanMs ?? [])
  return bansMs.length > 0 ? Math.min(...bansMs) : 0
}
