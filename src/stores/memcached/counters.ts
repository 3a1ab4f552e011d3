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
}

/** Returns the counters of a policy whose state is only counts. */
export function countersOf(policy: Policy): Counters {
  return policy.spec.kind === 'consecutive' ? singleCounter(policy) : windowCounters(policy)
}

const singleCounter = weakMemo(
  ({ limit }: Policy): Counters => ({
    sliceAt: () => 0,
    older: 0,
    keyOf: (key) => key,
    expirationAt: () => 0,
    stateOf: (_slice, counts) => [limit, ...counts],
  }),
)

const windowCounters = weakMemo(({ spec, limit, windowMs }: Policy): Counters => {
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
    stateOf: (slice, counts) =>
      older === 0
        ? [limit, windowMs, slice * windowMs, ...counts]
        : [limit, windowMs, slices, slice, ...counts],
  }
})

/** Returns whether the counts under a policy are those under another one of its kind. */
export function haveSameCounters(before: Policy, after: Policy): boolean {
  return sliceMsOf(before) === sliceMsOf(after)
}

/** Returns the length of a slice; `undefined` if time does not divide the counts, or if there are none. */
function sliceMsOf({ spec }: Policy): number | undefined {
  if (spec.kind === 'fixed-window') return spec.windowMs
  return spec.kind === 'sliding-window' ? spec.windowMs / spec.slices : undefined
}
