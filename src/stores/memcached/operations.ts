import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'

/** A charge all of whose parts name one key; or a look at what such a charge would find, which takes nothing. */
export type ChargeOrLook = { readonly charge: Charge } | { readonly look: Charge }

/** What can be wanted of one key. */
export type KeyWork = ChargeOrLook | { readonly refund: Refund }

/** A verdict; or why one charge is not decided although others of its key are. */
export type Result = Verdict | StoreError

/** What came of a piece of work: nothing for a refund. */
export type KeyResult = Result | undefined

/** How a key stands after work. */
export interface Outcome {
  readonly results: readonly KeyResult[]
  /** `undefined` is fresh. */
  readonly state: State | undefined
}

/** Does work on a key's state, in order, without writing. */
export function workOn(state: State | undefined, works: readonly KeyWork[], nowMs: number): Outcome {
  let current = state
  const results = works.map((work): KeyResult => {
    if ('charge' in work) {
      const { verdict, writes } = evaluateCharge(work.charge, () => current, nowMs)
      for (const write of writes.values()) current = write.state
      return verdict
    }
    if ('look' in work) return lookAt(work.look, current, nowMs)
    const { policy, cost, takenAtMs, resetAtMs } = work.refund
    if (current !== undefined) current = policy.refund(current, nowMs, cost, takenAtMs, resetAtMs)
    return undefined
  })
  return { results, state: current }
}

/** Does what takes nothing, where nothing can be written: denials and looks stand, and the rest is refused. */
export function workUnwritten(
  state: State | undefined,
  works: readonly KeyWork[],
  nowMs: number,
  refusal: StoreError,
): readonly KeyResult[] {
  return works.map((work) => {
    const { results, state: next } = workOn(state, [work], nowMs)
    const [result] = results
    return next === state || (result && 'allowed' in result && !result.allowed) ? result : refusal
  })
}

/** Denied, a look shows what would deny; else how the key stands. */
function lookAt(charge: Charge, state: State | undefined, nowMs: number): Verdict {
  const { verdict } = evaluateCharge(charge, () => state, nowMs)
  if (!verdict.allowed) return verdict
  const peek = charge.map((part) => ({ ...part, cost: 0 }))
  return evaluateCharge(peek, () => state, nowMs).verdict
}

export function policyOf(work: KeyWork): Policy {
  return 'refund' in work ? work.refund.policy : partOf(work).policy
}

/** A part of it; all of them name the same key. */
export function partOf(work: ChargeOrLook): Part {
  return ('charge' in work ? work.charge : work.look)[0] as Part
}
