import type { Policy, State } from '../../policies/policy.js'
import type { Charge, Verdict } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Counters } from './counters.js'
import {
  type ChargeOrLook,
  type KeyResult,
  policyOf,
  type Result,
  workOn,
  workUnwritten,
} from './operations.js'
import type { Neighbours } from './slice-cache.js'

/** What stood in the counter, and what was counted on top of it: all that was wanted, or nothing if the server has no room. */
export interface Counted {
  readonly before: number
  readonly added: number
  readonly noRoom?: StoreError
}

/** What is counted for charges: all that may be allowed, and no more than may be allowed in all. */
export function wantedBy(works: readonly ChargeOrLook[]): number {
  const { limit } = policyOf(works[0] as ChargeOrLook)
  let wanted = 0
  for (const work of works) {
    if (!('charge' in work)) continue
    const cost = costOf(work.charge)
    if (cost <= limit) wanted += cost
  }
  return Math.min(limit, wanted)
}

/** Decides on what others have counted. Where nothing could be counted, what would be allowed is refused. */
export function decideOn(
  works: readonly ChargeOrLook[],
  counters: Counters,
  slice: number,
  { before, noRoom }: Counted,
  { next, older }: Neighbours,
  nowMs: number,
): readonly Result[] {
  const policy = policyOf(works[0] as ChargeOrLook)
  const counts = [before + next, ...older]
  const newest = Math.min(before + next, policy.limit) // others may have counted more, and not yet given it back
  const state = counters.stateOf(slice, [newest, ...older])
  const results = noRoom ? workUnwritten(state, works, nowMs, noRoom) : workOn(state, works, nowMs).results
  const isSettled =
    !results.some(isDenial) || !isOver(policy, (those) => counters.stateOf(slice, those), counts, nowMs)
  return (isSettled ? results : results.map(tentative)) as Result[]
}

/** Whether nothing would be left with one unit less either: then some of the units are about to be given back. */
function isOver(
  policy: Policy,
  stateOf: (counts: readonly number[]) => State,
  counts: readonly number[],
  nowMs: number,
): boolean {
  const newest = counts.findIndex((count) => count > 0)
  const oneLess = counts.map((count, i) => (i === newest ? count - 1 : count))
  return policy.take(stateOf(oneLess), nowMs, 0).remaining === 0
}

function tentative(result: KeyResult): KeyResult {
  return isDenial(result) ? { ...(result as Verdict), isTentative: true } : result
}

export function isDenial(result: KeyResult): boolean {
  return result !== undefined && !(result instanceof StoreError) && !result.allowed
}

export function takenBy(works: readonly ChargeOrLook[], results: readonly Result[]): number {
  let taken = 0
  works.forEach((work, i) => {
    const result = results[i] as Result
    if ('charge' in work && !(result instanceof StoreError) && result.allowed) taken += costOf(work.charge)
  })
  return taken
}

function costOf(charge: Charge): number {
  return charge.reduce((sum, { cost }) => sum + cost, 0)
}
