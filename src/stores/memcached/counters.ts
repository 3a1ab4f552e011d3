import type { Policy, State } from '../../policies/policy.js'
import { sliceIndex } from '../../policies/sliding-window.js'
import { weakMemo } from '../../util/memo.js'
import { expirationOf } from './protocol.js'

/** How memcached keeps a policy whose state is only counts: one counter for each slice of time. */
export interface Counters {
  /** Returns the slice in which units taken at `ms` are counted. */
  sliceAt(ms: number): number
  /** How many earlier slices the policy still counts. */
  readonly older: number
  keyOf(key: string, slice: number): string
  /** Returns the expiration of the present slice's counter: when it no longer matters. */
  expirationAt(nowMs: number): number
  /** Returns the policy's state for the counts of `slice` and of those before it. */
  stateOf(slice: number, counts: readonly number[]): State
  /** Returns the counts in such a state. */
  countsIn(state: State): readonly number[]
}

/** Returns the counters of a policy whose state is only counts. */
export function countersOf(policy: Policy): Counters {
  return policy.spec.kind === 'consecutive' ? SINGLE_COUNTER : windowCounters(policy)
}

const SINGLE_COUNTER: Counters = {
  sliceAt: () => 0,
  older: 0,
  keyOf: (key) => key,
  expirationAt: () => 0,
  stateOf: (_slice, counts) => counts,
  countsIn: (state) => state,
}

const windowCounters = weakMemo(({ spec, windowMs }: Policy): Counters => {
  const older = spec.kind === 'sliding-window' ? spec.slices : 0
  const slices = Math.max(1, older)
  const sliceAt = (ms: number) => sliceIndex(ms, windowMs, slices)
  return {
    sliceAt,
    older,
    keyOf: (key, slice) => `${key}:${slice}`,
    expirationAt(nowMs) {
      const endMs = ((sliceAt(nowMs) + 1 + older) * windowMs) / slices
      return expirationOf(endMs - nowMs, nowMs)
    },
    stateOf: (slice, counts) => (older === 0 ? [...counts, slice * windowMs] : [slice, ...counts]),
    countsIn: (state) => (older === 0 ? state.slice(0, 1) : state.slice(1)),
  }
})
