import type { Operation, Part, Refund, ResultOf, Take, Verdict } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import { isUnsent } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'

/** Applies an operation where the units of a decision were taken. */
export type Apply = <O extends Operation>(operation: O) => MaybePromise<ResultOf<O>>

/** A part with the name of its limit. */
interface NamedPart extends Part {
  readonly name: string
}

/** What the parts of an adjusted decision have taken, and when. */
export type Ledger = ReturnType<typeof ledgerOf>

/** Creates the ledger of an allowed charge. */
export function ledgerOf(charge: readonly NamedPart[], verdict: Verdict, apply: Apply) {
  /** What each part took: its charge first, then what adjustments took. */
  const takings = refundsOf(charge, verdict).map((refund): readonly Refund[] => [refund])
  let adjusting: MaybePromise<void>

  function adjustPart(i: number, cost: number): MaybePromise<void> {
    const missing = cost - unitsOf(i)
    if (missing < 0) return giveBack(i, -missing)
    return missing > 0 ? takeMore(i, missing) : undefined
  }

  const unitsOf = (i: number) => takingsOf(i).reduce((sum, taking) => sum + taking.cost, 0)
  const takingsOf = (i: number) => takings[i] as readonly Refund[]

  function takeMore(i: number, units: number): MaybePromise<void> {
    const { key, policy } = charge[i] as NamedPart
    return thenMaybe(apply<Take>({ type: 'take', key, policy, units }), ({ atMs, taken, resetAfterMs }) => {
      const times = { takenAtMs: atMs, resetAtMs: atMs + resetAfterMs }
      takings[i] = [...takingsOf(i), { type: 'refund', key, policy, cost: taken, ...times }]
    })
  }

  /** Refunds units of a part. After a failure they count as refunded, unless the store was not called. */
  function giveBack(i: number, units: number): MaybePromise<void> {
    const { kept, refunds } = split(takingsOf(i), units)
    takings[i] = kept
    return settleAll(refunds, (refund) =>
      catchMaybe<unknown>(
        () => apply(refund),
        (error) => {
          if (isUnsent(error)) takings[i] = [...takingsOf(i), refund]
          throw error
        },
      ),
    )
  }

  /** Selects the parts of limits by name; all parts without names. Units in use are released, not refunded. */
  const selected = (names: readonly string[] | undefined) =>
    [...charge.entries()]
      .filter(([, { name, policy }]) => !policy.holdsUnits && names?.includes(name) !== false)
      .map(([i]) => i)

  /** Runs a step once the adjustments before it are done: each starts from what they took. */
  function inTurn(step: () => MaybePromise<void>): MaybePromise<void> {
    adjusting = isPromise(adjusting) ? adjusting.then(step, step) : step()
    return adjusting
  }

  return {
    /** Makes each selected part have taken `cost`, or as much as is left. */
    adjust: (cost: number, names: readonly string[] | undefined) =>
      inTurn(() => settleAll(selected(names), (i) => adjustPart(i, cost))),
    /** Refunds all that the selected parts have taken. */
    refund: (names: readonly string[] | undefined) =>
      inTurn(() => settleAll(selected(names), (i) => giveBack(i, Number.POSITIVE_INFINITY))),
  }
}

/** Splits what was taken into the refunds of some units, the latest first, and what is kept. */
function split(takings: readonly Refund[], units: number) {
  const kept = [...takings]
  const refunds: Refund[] = []
  for (let left = units; left > 0 && kept.length > 0; ) {
    const latest = kept.pop() as Refund
    const cost = Math.min(latest.cost, left)
    if (cost > 0) refunds.push({ ...latest, cost })
    if (cost < latest.cost) kept.push({ ...latest, cost: latest.cost - cost })
    left -= cost
  }
  return { kept, refunds }
}
