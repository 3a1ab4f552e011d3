import { isDisconnectedError } from '../keys/request.js'
import { lengthOf } from '../policies/calendar.js'
import type { ChargeResult, PartResult } from '../stores/operation.js'
import { isPromise } from '../util/maybe-promise.js'
import { wrongKind } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import { type Apply, emptyReceipt, type MakeReceipt, type NamedPart, type Receipt } from './receipt.js'

/**
 * Where a decision comes from.
 *
 * - `'store'`: the store.
 * - `'deny-cache'`: a cached denial of the store.
 * - `'lease'`: units that this process leased from the store.
 * - `'local'`: the fallback store in this process.
 * - `'fail-open'`: the store could not decide, and `onStoreError` allowed the charge.
 * - `'fail-closed'`: the store could not decide, and `onStoreError` denied the charge. Also for a request
 *   that disconnected before its address was read, and for a `waitFor` that ended before the store was
 *   called.
 * - `'overload'`: an overload guard of this process.
 * - `'none'`: no limit applies, or `skip` or `allow` exempts the request.
 * - `'blocked'`: its IP address is in `block`.
 */
export type DecisionSource =
  | 'store'
  | 'deny-cache'
  | 'lease'
  | 'local'
  | 'fail-open'
  | 'fail-closed'
  | 'overload'
  | 'none'
  | 'blocked'

/** The figures of a limit. Times are in milliseconds from the decision. */
interface Figures {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** The time until the whole quota is back. */
  readonly resetAfterMs: number
  /** The time until the same cost is allowed. 0 if it was allowed, `Infinity` if it never will be. */
  readonly retryAfterMs: number
  /** The time until `remaining` grows. */
  readonly moreAfterMs: number
}

/** One limit's part of a decision. `allowed` says whether this limit alone would have allowed the charge. */
export interface PartDecision extends Figures {
  /** The limit's name, as in headers. */
  readonly name: string
  /** The length of the window, or of a quota's current period. `Infinity` if it never resets by itself. */
  readonly windowMs: number
  readonly cost: number
  /** Units that were taken beyond the limit. Absent if none were. */
  readonly debt?: number
  /** Set for `concurrency` and overload guards, whose units come back when requests end. */
  readonly quotaUnit?: 'concurrent-requests'
}

/** The outcome of one charge, as plain data. Its figures are those of the binding limit. */
export interface Decision extends Figures {
  /**
   * The binding limit: the one that denied for longest, or the one nearest to exhaustion. `''` if none was
   * charged.
   */
  readonly limitName: string
  /** The figures of each limit. Empty if no limit was charged. */
  readonly parts: readonly PartDecision[]
  readonly source: DecisionSource
}

/** Finishes a decision, such as by reporting it, and returns the one for the caller. */
export type Finish = (decision: Decision, subject: unknown) => Decision

/** Returns a decision as it was made, without reporting it. */
export const asDecided: Finish = (decision) => decision

/** The sources of decisions on a charge. */
export type ChargeSource = 'store' | 'deny-cache' | 'lease' | 'local'

/** A registered symbol, so that other copies of this package can read receipts. */
const RECEIPT = Symbol.for('headgate.receipt')

/**
 * A decision, as headgate makes it. Its receipt is private, so a copy of the decision has none. `declare`
 * omits field initialisers, which would set each field twice.
 */
export class LimiterDecision implements Decision {
  declare readonly allowed: boolean
  declare readonly limit: number
  declare readonly remaining: number
  declare readonly resetAfterMs: number
  declare readonly retryAfterMs: number
  declare readonly moreAfterMs: number
  declare readonly limitName: string
  declare readonly parts: readonly PartDecision[]
  declare readonly source: DecisionSource
  #receipt: Receipt | MakeReceipt
  /** What the receipt is made from: not from `parts`, which callers may change. */
  readonly #text: string
  readonly #cost: number
  readonly #atMs: number
  readonly #figures: PartResult | undefined

  constructor(
    binding: Omit<PartDecision, 'windowMs' | 'cost'>,
    allowed: boolean,
    parts: readonly PartDecision[],
    source: DecisionSource,
    receipt: Receipt | MakeReceipt,
    text = '',
    cost = 0,
    atMs = 0,
    figures?: PartResult,
  ) {
    this.allowed = allowed
    this.limit = binding.limit
    this.remaining = binding.remaining
    this.resetAfterMs = binding.resetAfterMs
    this.retryAfterMs = binding.retryAfterMs
    this.moreAfterMs = binding.moreAfterMs
    this.limitName = binding.name
    this.parts = parts
    this.source = source
    this.#receipt = receipt
    this.#text = text
    this.#cost = cost
    this.#atMs = atMs
    this.#figures = figures
  }

  get [RECEIPT](): Receipt | undefined {
    if (!(#receipt in this)) return undefined // an object may inherit from a decision
    if (typeof this.#receipt === 'function') {
      this.#receipt = this.#receipt(this.#text, this.#cost, this.#atMs, this.#figures as PartResult)
    }
    return this.#receipt
  }
}

/** Returns the receipt of a decision; `undefined` for a copy or any other value. */
export function receiptOf(value: unknown): Receipt | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const holder: { readonly [RECEIPT]?: Receipt } = value
  return holder[RECEIPT]
}

/**
 * Returns the parts that a decision charged or, for a denial, tried to charge; `undefined` if the value is
 * not a decision.
 */
export function chargedParts(value: unknown): readonly NamedPart[] | undefined {
  return receiptOf(value)?.parts
}

/** Creates the decision from the result of a charge. `hold` holds what it took of concurrency limits. */
export function decisionOf(
  source: ChargeSource,
  parts: readonly NamedPart[],
  result: ChargeResult,
  apply: Apply,
  hold: ((receipt: Receipt) => void) | undefined,
): Decision {
  const { allowed } = result
  const receipt: Receipt = { parts, result, apply, isRefundable: allowed }
  hold?.(receipt)
  const decisions: PartDecision[] = []
  for (const part of parts) {
    const figures = result.parts[decisions.length]
    if (figures !== undefined) decisions.push(partDecision(part, part.cost, figures, result.atMs))
  }
  const binding = decisions.length === 1 && decisions[0] ? decisions[0] : bindingLimit(decisions, allowed)
  return new LimiterDecision(binding, allowed, decisions, source, receipt)
}

/** Returns one limit's part of a decision, which the store made at `atMs`. */
export function partDecision(
  { name, policy }: Pick<NamedPart, 'name' | 'policy'>,
  cost: number,
  figures: PartResult,
  atMs: number,
): PartDecision {
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs, debt } = figures
  const { limit, periodAt } = policy
  const windowMs = periodAt === undefined ? policy.windowMs : lengthOf(periodAt(atMs))
  const part = { name, limit, windowMs, cost, allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
  if (policy.holdsUnits) return heldPart(part)
  return debt === undefined ? part : { ...part, debt }
}

/** Returns the part of a concurrency limit. Time does not restore units that requests hold. */
function heldPart(part: PartDecision): PartDecision {
  const laterMs = part.remaining < part.limit ? Number.POSITIVE_INFINITY : 0
  const timesMs = { windowMs: Number.POSITIVE_INFINITY, resetAfterMs: laterMs, moreAfterMs: laterMs }
  return { ...part, ...timesMs, quotaUnit: 'concurrent-requests' }
}

/** Returns the limit that denied for longest or, if all allowed, the one nearest to exhaustion. */
function bindingLimit(parts: readonly PartDecision[], allowed: boolean): PartDecision {
  let binding = parts[0] as PartDecision
  for (const part of parts) {
    const binds = allowed ? part.remaining < binding.remaining : part.retryAfterMs > binding.retryAfterMs
    if (binds) binding = part
  }
  return binding
}

/** Returns what report mode returns in place of a denial: an allowed decision with the same figures. */
export function reportedDecision(denial: Decision): Decision {
  const binding = { ...denial, name: denial.limitName, retryAfterMs: 0 }
  return new LimiterDecision(binding, true, denial.parts, denial.source, receiptOf(denial) ?? emptyReceipt())
}

/** Returns the denial of an allowed request that cannot be delayed. Its units stay taken. */
export function denyUndelayable(decision: Decision, retryAfterMs: number): Decision {
  const parts = decision.parts.map((part) => ({ ...part, allowed: false, retryAfterMs }))
  const binding = { ...decision, name: decision.limitName, retryAfterMs }
  const { parts: charged, candidate } = receiptOf(decision) ?? emptyReceipt()
  const receipt = { parts: charged, isRefundable: false, ...(candidate && { candidate }) } // a denial has no refund
  return new LimiterDecision(binding, false, parts, decision.source, receipt)
}

/**
 * Throws a `TypeError` for anything else in place of a decision, such as an identity or a promise: the call
 * would have no effect. Accepts `undefined`, for a subject that was not charged.
 */
export function checkDecision(owner: string, decision: unknown): void {
  if (decision === undefined || typeof fieldsOf(decision).allowed === 'boolean') return
  if (isPromise(decision))
    throw new TypeError(`${owner}: decision must not be a promise. Await what limiter.charge returns.`)
  const fix = 'Pass what limiter.charge returns. For a subject, write reward(subject, 1).'
  throw wrongKind(owner, 'decision', 'a decision of a limiter', decision, fix)
}

/** Returns a subject that adjustments accept for these keys, as they accept a decision. */
export function subjectOfKeys(parts: readonly NamedPart[]): Record<string, unknown> {
  return Object.defineProperty({}, RECEIPT, { value: { parts } satisfies Pick<Receipt, 'parts'> })
}

/** Decisions that charge nothing, by source. */
const UNCHARGED = {
  none: { allowed: true, retryAfterMs: 0 },
  'fail-open': { allowed: true, retryAfterMs: 0 },
  'fail-closed': { allowed: false, retryAfterMs: 1000 },
  blocked: { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY },
}

/** Returns a decision that charged nothing, for the reason that `source` names. */
export function unchargedDecision(source: keyof typeof UNCHARGED): Decision {
  const { allowed, retryAfterMs } = UNCHARGED[source]
  const limit = Number.POSITIVE_INFINITY
  const figures = { limit, remaining: allowed ? limit : 0, resetAfterMs: 0, moreAfterMs: 0 }
  const binding = { ...figures, name: '', allowed, retryAfterMs }
  return new LimiterDecision(binding, allowed, [], source, emptyReceipt())
}

/** Returns the denial of a request that disconnected before its address was read. Rethrows other errors. */
export function denyDisconnected(error: unknown): Decision {
  if (isDisconnectedError(error)) return unchargedDecision('fail-closed')
  throw error
}
