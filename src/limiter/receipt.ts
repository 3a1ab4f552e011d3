import type {
  ChargeResult,
  Operation,
  Part,
  PartResult,
  Refund,
  ResultOf,
  TakeResult,
} from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import type { MaybePromise } from '../util/maybe-promise.js'

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

/**
 * What each part of a decision has taken, and when. Makes each part have taken `cost`, or as close to it as
 * the limit allows; 0 refunds everything. `names` restricts the change to those limits.
 */
export type Ledger = (cost: number, names: readonly string[] | undefined) => MaybePromise<void>

/** Told what changed the units that a part of a decision has taken: a refund, or units that were taken later. */
export type UnitsWatch = (part: NamedPart, change: Refund | TakeResult) => void

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
  /** Called after each change of the units. Absent if no tool counts them. */
  unitsWatch?: UnitsWatch
  /** What a feature holds until the decision is released. */
  holding?: Holding | undefined
  /** The candidate decision on the same charge. */
  candidate?: MaybePromise<object | undefined>
}

/**
 * Makes the receipt of a decision with one part, whose `figures` were decided at `atMs`. Few of these
 * decisions need one. `text` says whose units they are.
 */
export type MakeReceipt = (text: string, cost: number, atMs: number, figures: PartResult) => Receipt

/** Returns the receipt of a decision that charged nothing. */
export function emptyReceipt(): Receipt {
  return { parts: [], isRefundable: false }
}
