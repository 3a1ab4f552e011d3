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

/** A part with the name of its limit. Its key is the scope, the identity and `'}'`. */
export interface NamedPart extends Part {
  readonly name: string
  /** The prefix that all keys of the limit share, up to and including `'{'`. */
  readonly scope: string
  readonly identity: string
}

/** Units that a decision holds until they are released. */
export interface Holding {
  release(): MaybePromise<void>
  /** Stops renewals, so that the units expire after their ttl unless they are released first. */
  stopRenewals(): void
}

/** What a decision took, and what became of it. */
export interface Receipt {
  readonly parts: readonly NamedPart[]
  /** The result of the charge; absent if nothing was charged. */
  readonly result?: ChargeResult
  /** Applies operations where the units were taken; absent if nothing was charged. */
  readonly apply?: Apply
  /** Whether there are units to refund: false for a denial or a peek, and after a refund. */
  isRefundable: boolean
  /** The units taken so far, after adjustments. */
  ledger?: Ledger
  /** What a feature holds until the decision is released. */
  holding?: Holding | undefined
  /** The candidate decision on the same charge. */
  candidate?: MaybePromise<object | undefined>
}

/** Refunds the units of a decision, once. `names` restricts it to those limits. */
export function refundReceipt(receipt: Receipt | undefined, names?: readonly string[]): MaybePromise<void> {
  if (!receipt?.isRefundable) return undefined
  receipt.isRefundable = false
  return ledgerOf(receipt).refund(names)
}

/**
 * Changes the units taken from each limit to `cost`, or as close as the limit allows. `names` restricts it.
 */
export function adjustReceipt(
  receipt: Receipt | undefined,
  cost: number,
  names?: readonly string[],
): MaybePromise<void> {
  return receipt?.isRefundable ? ledgerOf(receipt).adjust(cost, names) : undefined
}

/** What each part of a decision has taken, and when. */
export type Ledger = ReturnType<typeof createLedger>

function ledgerOf(receipt: Receipt): Ledger {
  receipt.ledger ??= createLedger(receipt.parts, receipt.result as ChargeResult, receipt.apply as Apply)
  return receipt.ledger
}

function createLedger(parts: readonly NamedPart[], result: ChargeResult, apply: Apply) {
  /** The units that each part took: those of its charge first, then those of adjustments. */
  const takings = refundsOf(parts, result).map((refund): readonly Refund[] => [refund])
  let pendingChange: MaybePromise<void>

  function adjustPart(i: number, cost: number): MaybePromise<void> {
    const missing = cost - unitsOf(i)
    if (missing < 0) return giveBack(i, -missing)
    return missing > 0 ? takeMore(i, missing) : undefined
  }

  const unitsOf = (i: number) => takingsOf(i).reduce((sum, taking) => sum + taking.cost, 0)
  const takingsOf = (i: number) => takings[i] as readonly Refund[]

  function takeMore(i: number, units: number): MaybePromise<void> {
    const { key, policy } = parts[i] as NamedPart
    return thenMaybe(apply<Take>({ type: 'take', key, policy, units }), ({ atMs, taken, resetAfterMs }) => {
      const times = { takenAtMs: atMs, resetAtMs: atMs + resetAfterMs }
      takings[i] = [...takingsOf(i), { type: 'refund', key, policy, cost: taken, ...times }]
    })
  }

  /**
   * Refunds units of a part. If that fails, they count as refunded, unless the call never reached the store.
   */
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

  /**
   * Selects the parts of limits by name; all parts without names. Units in use are released, not refunded.
   */
  const selectParts = (names: readonly string[] | undefined) =>
    [...parts.entries()]
      .filter(([, { name, policy }]) => !policy.holdsUnits && names?.includes(name) !== false)
      .map(([i]) => i)

  /** Runs changes in order, since each depends on the one before. */
  function runInOrder(step: () => MaybePromise<void>): MaybePromise<void> {
    pendingChange = isPromise(pendingChange) ? pendingChange.then(step, step) : step()
    return pendingChange
  }

  return {
    /** Makes each selected part have taken `cost`, or as much as is left. */
    adjust: (cost: number, names: readonly string[] | undefined) =>
      runInOrder(() => settleAll(selectParts(names), (i) => adjustPart(i, cost))),
    /** Refunds all that the selected parts have taken. */
    refund: (names: readonly string[] | undefined) =>
      runInOrder(() => settleAll(selectParts(names), (i) => giveBack(i, Number.POSITIVE_INFINITY))),
  }
}

/** Splits the taken units into `units` to refund, the latest first, and the rest to keep. */
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
