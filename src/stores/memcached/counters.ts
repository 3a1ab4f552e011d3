import type { Policy, State } from '../../policies/policy.js'
import { expirationOf } from './expiration.js'

/** How a policy that counts lies in memcached: one counter for each slice of time. */
export interface Counters {
  /** The slice that counts at a moment. */
  sliceAt(ms: number): number
  /** How many slices before the present one still matter. Where any do, slices are decided on together. */
  readonly older: number
  /** The key of a slice's counter. */
  keyOf(key: string, slice: number): string
  /** When the counter of the present slice does not matter any more, as memcached reads it. */
  expirationAt(nowMs: number): number
  /** The state that the policy makes of the counts, of the present slice first. */
  stateOf(slice: number, counts: readonly number[]): State
}

/** Policies whose state is made of counts, and nothing else. */
const COUNTING: readonly Policy['kind'][] = ['fixed-window', 'sliding-window', 'consecutive']

const known = new WeakMap<Policy, Counters>()

/** The counters of a policy; `undefined` for one that needs more than counts. */
export function countersOf(policy: Policy): Counters | undefined {
  if (!COUNTING.includes(policy.kind)) return undefined
  const before = known.get(policy)
  if (before !== undefined) return before
  const counters = policy.kind === 'consecutive' ? oneCounter : windowCounters(policy)
  known.set(policy, counters)
  return counters
}

const oneCounter: Counters = {
  sliceAt: () => 0,
  older: 0,
  keyOf: (key) => key,
  expirationAt: () => 0,
  stateOf: (_slice, counts) => counts,
}

/** A fixed window is one slice long, and nothing before it matters. */
function windowCounters({ kind, params: [, windowMs = 0, slices = 1] }: Policy): Counters {
  const older = kind === 'sliding-window' ? slices : 0
  const sliceAt = (ms: number) => Math.floor((Math.floor(ms) * slices) / windowMs)
  return {
    sliceAt,
    older,
    keyOf: (key, slice) => `${key}:${slice}`,
    expirationAt(nowMs) {
      const endMs = ((sliceAt(nowMs) + 1 + older) * windowMs) / slices
      return expirationOf(endMs - nowMs, nowMs)
    },
    stateOf: (slice, counts) => [slice, ...counts],
  }
}
