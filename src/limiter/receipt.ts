import type { ChargeResult, Operation, Part, Refund, ResultOf, Take } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import { isUnsent, type StoreError } from '../stores/store-error.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'

/**
 * Applies an operation where the units of a decision were taken. Calls `onLate` with an outcome that comes
 * after the time-out.
 */
export type Apply = <O extends Operation>(
  operation: O,
  onLate?: (outcome: ResultOf<O> | StoreError) => void,
) => MaybePromise<ResultOf<O>>

/** A part with the name of its limit, and its key in two pieces: a scope, and the identity in braces. */
export interface NamedPart extends Part {
  readonly name: string
  /** The key up to the identity: what all keys of the limit begin with. */
  readonly scope: string
  readonly identity: string
}

/** Units that a decision holds until they are released. */
export interface Holding {
  release(): MaybePromise<void>
  /** Lets the units be free after their ttl, unless they are released before. */
  stopRenewals(): void
}

/** What a decision took, and what became of it. */
export interface Receipt {
  readonly parts: readonly NamedPart[]
  /** The result of the charge; absent where nothing was charged. */
  readonly result?: ChargeResult
  /** Applies operations where the units were taken; absent where nothing was charged. */
  readonly apply?: Apply
  /** Whether units are taken: not for a denial or a peek, and not once they were refunded. */
  isOpen: boolean
  /** What adjustments have made of the charge. */
  ledger?: Ledger
  /** What a feature holds until the decision is released. */
  holding?: Holding | undefined
  /** The decision of a candidate beside it. */
  candidate?: MaybePromise<object | undefined>
}

/** Refunds what a decision took, once; with `names`, what the limits of these names took. */
export function refundReceipt(receipt: Receipt | undefined, names?: readonly string[]): MaybePromise<void> {
  if (!receipt?.isOpen) return undefined
  receipt.isOpen = false
  return ledgerOf(receipt).refund(names)
}

/** Makes what a decision took `cost`, or as much as is left; with `names`, for the limits of these names. */
export function adjustReceipt(
  receipt: Receipt | undefined,
  cost: number,
  names?: readonly string[],
): MaybePromise<void> {
  return receipt?.isOpen ? ledgerOf(receipt).adjust(cost, names) : undefined
}

/** What the parts of a decision have taken, and when. */
export type Ledger = ReturnType<typeof createLedger>

function ledgerOf(receipt: Receipt): Ledger {
  receipt.ledger ??= createLedger(receipt.parts, receipt.result as ChargeResult, receipt.apply as Apply)
  return receipt.ledger
}

function createLedger(charge: readonly NamedPart[], result: ChargeResult, apply: Apply) {
  /** What each part took: its charge first, then what adjustments took. */
  const takings = refundsOf(charge, result).map((refund): readonly Refund[] => [refund])
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
