import type { Policy, State } from '../../policies/policy.js'
import { expirationOf } from './protocol.js'

/** How a policy that only counts is kept in memcached: one counter for each slice of time. */
export interface Counters {
  /** Returns the slice in which units are counted at a moment. */
  sliceAt(ms: number): number
  /** How many earlier slices still matter. */
  readonly older: number
  /** Returns the item key of a slice's counter. */
  keyOf(key: string, slice: number): string
  /** Returns the expiration of the present slice's counter: when it no longer matters. */
  expirationAt(nowMs: number): number
  /** Returns the policy's state for the counts of `slice` and of those before it. */
  stateOf(slice: number, counts: readonly number[]): State
}

const cache = new WeakMap<Policy, Counters>()

/** Returns the counters of a policy; `undefined` for one whose state is more than counts. */
export function countersOf(policy: Policy): Counters | undefined {
  const cached = cache.get(policy)
  if (cached !== undefined) return cached
  const counters = makeCounters(policy)
  if (counters !== undefined) cache.set(policy, counters)
  return counters
}

function makeCounters({ kind, params: [, windowMs = 0, slices = 1] }: Policy): Counters | undefined {
  if (kind === 'consecutive') return SINGLE_COUNTER
  if (kind === 'fixed-window') return windowCounters(windowMs, 1, 0)
  return kind === 'sliding-window' ? windowCounters(windowMs, slices, slices) : undefined
}

const SINGLE_COUNTER: Counters = {
  sliceAt: () => 0,
  older: 0,
  keyOf: (key) => key,
  expirationAt: () => 0,
  stateOf: (_slice, counts) => counts,
}

function windowCounters(windowMs: number, slices: number, older: number): Counters {
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
