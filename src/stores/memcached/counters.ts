import type { Policy, State } from '../../policies/policy.js'
import { sliceIndex } from '../../policies/sliding-window.js'
import { weakMemo } from '../../util/memo.js'
import { type Charge, type ChargeResult, onlyPartOf } from '../operation.js'
import { applyBatch } from '../shared/apply-batch.js'
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

/** A count, and the CAS token of its counter; 0 and `undefined` where there is no counter. */
export interface CountVersion {
  readonly count: number
  readonly cas: bigint | undefined
}

/** The counts of the slices around the present one. */
export interface OtherSlices {
  /** The sum of the coming slices, in which processes whose clocks are ahead may count already. */
  readonly next: number
  /** The counts of the slices before, newest first. */
  readonly older: readonly number[]
  /** Whether some counts may have fallen since: then a denial may be wrong, but never an admission. */
  readonly isStale: boolean
}

/** Returns the units to count: of all charges that fit the limit alone, and no more than the limit. */
export function unitsWanted(charges: readonly Charge[], { limit }: Policy): number {
  let wanted = 0
  for (const charge of charges) {
    const units = unitsOf(charge)
    if (units <= limit) wanted += units
  }
  return Math.min(limit, wanted)
}

export function unitsAllowed(charges: readonly Charge[], verdicts: readonly ChargeResult[]): number {
  let allowed = 0
  for (const [i, charge] of charges.entries()) if (verdicts[i]?.allowed) allowed += unitsOf(charge)
  return allowed
}

function unitsOf({ parts }: Charge): number {
  let units = 0
  for (const { cost } of parts) units += cost
  return units
}

/** Returns the most units that a client can use or owe, while the limit stays the same. */
function mostOf({ limit, debt = 0 }: Policy): number {
  return limit + debt
}

/** Returns whether more is counted than a client can use or owe. */
export function isOver({ count }: CountVersion, { next }: OtherSlices, policy: Policy): boolean {
  return count + next > mostOf(policy)
}

export const isDenial = ({ allowed }: ChargeResult) => allowed === false

/**
 * Returns the verdicts. `before` is what others have counted in the present slice. Units beyond what a client
 * can use are assumed to be refunded soon, unless the count has settled: then the limit was lowered.
 */
export function evaluate(
  charges: readonly Charge[],
  policy: Policy,
  before: number,
  { next, older }: Pick<OtherSlices, 'next' | 'older'>,
  nowMs: number,
  isSettled = false,
): readonly ChargeResult[] {
  const { sliceAt, stateOf } = countersOf(policy)
  const newestCount = isSettled ? before + next : Math.min(before + next, mostOf(policy))
  const state = stateOf(sliceAt(nowMs), [newestCount, ...older])
  const verdicts = applyCharges(charges, state, nowMs)
  if (!verdicts.some(isDenial) || !isOvercounted()) return verdicts
  return verdicts.map((verdict) => (isDenial(verdict) ? { ...verdict, isTentative: true } : verdict))

  /** Whether the counts exceed the limit, so that some of them are about to be refunded. */
  function isOvercounted(): boolean {
    const counts = [before + next, ...older]
    const newest = counts.findIndex((count) => count > 0)
    const oneFewer = counts.map((count, i) => (i === newest ? count - 1 : count))
    return newest >= 0 && policy.take(stateOf(sliceAt(nowMs), oneFewer), nowMs, 0).remaining === 0
  }
}

/** Applies charges of one key, in order. One charge of one part, the usual case, is a step of its policy. */
function applyCharges(charges: readonly Charge[], state: State, nowMs: number): readonly ChargeResult[] {
  const part = charges.length === 1 ? onlyPartOf(charges[0]) : undefined
  if (part === undefined) return applyBatch(charges, () => state, nowMs).results as ChargeResult[]
  const step = part.policy.take(state, nowMs, part.cost)
  return [{ type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }]
}
