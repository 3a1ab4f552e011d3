import type { KeyPieces } from '../stores/memory/contract.js'
import type { Part, PartVerdict, Verdict } from '../stores/operation.js'
import { refundsOf } from '../stores/shared/refunds.js'
import { isPromise, type MaybePromise, settleAll } from '../util/maybe-promise.js'
import { type Apply, type Ledger, ledgerOf } from './ledger.js'

/**
 * Where a decision comes from: `'store'`; `'deny-cache'` = a cached denial of the store; `'lease'` = units
 * that this process leased from the store; `'local'` = the local fallback. If the store could not decide:
 * `'open'` = allowed, `'closed'` = denied; the latter, too, if a connection closed before its address was
 * read, and if `waitFor` ends before the store was called. `'none'` = no limit applies to the request, or
 * `skip` or `allow` exempts it. `'blocked'` = its address is in `block`.
 */
export type DecisionSource =
  | 'store'
  | 'deny-cache'
  | 'lease'
  | 'local'
  | 'open'
  | 'closed'
  | 'none'
  | 'blocked'

/** The figures of a limit. Times are milliseconds from the decision. */
interface Figures {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Until the whole quota is back. */
  readonly resetAfterMs: number
  /** Until the same cost is allowed; 0 when it is, `Infinity` = never. */
  readonly retryAfterMs: number
  /** Until `remaining` grows. */
  readonly moreAfterMs: number
}

/** One limit's part in a decision. `allowed` says whether this limit alone would have allowed the charge. */
export interface PartDecision extends Figures {
  /** The limit's name, as in headers. */
  readonly name: string
  /** `Infinity` = it never resets by itself. */
  readonly windowMs: number
  readonly cost: number
  /** Set for `concurrency`: the limit is on requests in flight, and its units come back as these end. */
  readonly quotaUnit?: 'concurrent-requests'
}

/** The outcome of one charge. Plain data, with the figures of the binding limit. */
export interface Decision extends Figures {
  /** The limit that denied for longest, or the one nearest to exhaustion; `''` where none was charged. */
  readonly policy: string
  /** Each limit's own figures; empty where no limit was charged. */
  readonly parts: readonly PartDecision[]
  readonly source: DecisionSource
}

/** A part with the name of its limit, and its key in pieces for the memory store, which joins no keys. */
export interface NamedPart extends Part, KeyPieces {
  readonly name: string
}

/** Registered, so that a second copy of this package understands the decisions. Not enumerable. */
const CHARGE = Symbol.for('headgate.decision.charge')
const REFUND = Symbol.for('headgate.decision.refund')
const ADJUST = Symbol.for('headgate.decision.adjust')
const TRIED = Symbol.for('headgate.decision.tried')
const DECIDED_AT = Symbol.for('headgate.decision.decidedAt')

interface Internals {
  readonly [CHARGE]?: readonly NamedPart[] | undefined
  readonly [DECIDED_AT]?: number | undefined
  [REFUND]?(limits: readonly string[] | undefined): MaybePromise<void>
  [ADJUST]?(cost: number, limits: readonly string[] | undefined): MaybePromise<void>
  readonly [TRIED]?: MaybePromise<Decision | undefined>
}

/** What a decision took, and how that is changed. */
export interface Taken {
  /** Applies operations where the units were taken. */
  readonly apply: Apply
  readonly charge: readonly NamedPart[]
  readonly verdict: Verdict
  /** Set once the decision was adjusted. */
  readonly ledger?: Ledger
}

/** Reports a decision to those who listen, and returns it. */
export type Report = (decision: Decision, subject: unknown) => Decision

/** The sources of decisions on a charge. */
export type ChargeSource = 'store' | 'deny-cache' | 'lease' | 'local'

/** The decision on a charge. What was charged and its refund are private: a copy has neither. */
export class ChargeDecision implements Decision, Internals {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number
  readonly retryAfterMs: number
  readonly moreAfterMs: number
  readonly policy: string
  readonly parts: readonly PartDecision[]
  readonly source: DecisionSource
  #taken: Taken
  /** Whether units are taken: not for a denial or a peek, and not once they were refunded. */
  #isTaken: boolean

  constructor(parts: readonly PartDecision[], allowed: boolean, source: ChargeSource, taken: Taken) {
    const binding = bindingLimit(parts, allowed)
    this.allowed = allowed
    this.limit = binding.limit
    this.remaining = binding.remaining
    this.resetAfterMs = binding.resetAfterMs
    this.retryAfterMs = binding.retryAfterMs
    this.moreAfterMs = binding.moreAfterMs
    this.policy = binding.name
    this.parts = parts
    this.source = source
    this.#taken = taken
    this.#isTaken = allowed
  }

  [REFUND](limits: readonly string[] | undefined): MaybePromise<void> {
    if (!(#isTaken in this) || !this.#isTaken) return
    this.#isTaken = false
    const { charge, verdict, apply, ledger } = this.#taken
    if (ledger !== undefined) return ledger.refund(limits)
    const refunds = refundsOf(charge, verdict).filter(({ cost, policy }, i) => {
      return cost > 0 && !policy.holdsUnits && limits?.includes((charge[i] as NamedPart).name) !== false
    })
    return settleAll(refunds, apply)
  }

  [ADJUST](cost: number, limits: readonly string[] | undefined): MaybePromise<void> {
    if (!(#isTaken in this) || !this.#isTaken) return
    const { charge, verdict, apply } = this.#taken
    const ledger = this.#taken.ledger ?? ledgerOf(charge, verdict, apply)
    this.#taken = { charge, verdict, apply, ledger }
    return ledger.adjust(cost, limits)
  }

  get [CHARGE](): readonly NamedPart[] | undefined {
    return #taken in this ? this.#taken.charge : undefined
  }

  get [DECIDED_AT](): number | undefined {
    return #taken in this ? this.#taken.verdict.atMs : undefined
  }

  /** Returns the decision of a peek, which has nothing to refund or to adjust. */
  static peeked(decision: Decision): Decision {
    if (#isTaken in decision) decision.#isTaken = false
    return decision
  }
}

/** Returns the decision on a charge. */
export function decisionOf(source: ChargeSource, taken: Taken): Decision {
  const { charge, verdict } = taken
  const parts = charge.map((part, i) => partDecision(part, part.cost, verdict.parts[i] as PartVerdict))
  return new ChargeDecision(parts, verdict.allowed, source, taken)
}

/** Returns the decision on a charge that was denied without the store: there is nothing to change. */
export function denialOf(source: ChargeSource, charge: readonly NamedPart[], verdict: Verdict): Decision {
  const apply: Apply = () => {
    throw new Error('a denial has taken nothing')
  }
  return decisionOf(source, { charge, verdict, apply })
}

/** Returns one limit's part in a decision. */
export function partDecision(
  { name, policy }: Pick<NamedPart, 'name' | 'policy'>,
  cost: number,
  verdict: PartVerdict,
): PartDecision {
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = verdict
  const { limit, windowMs } = policy
  if (policy.holdsUnits) return heldPart(name, limit, cost, verdict)
  return { name, limit, windowMs, cost, allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
}

/** Returns a concurrency limit's part: no time brings back what requests in flight hold. */
function heldPart(name: string, limit: number, cost: number, verdict: PartVerdict): PartDecision {
  const { allowed, remaining, retryAfterMs } = verdict
  const laterMs = remaining < limit ? Number.POSITIVE_INFINITY : 0
  return {
    name,
    limit,
    windowMs: Number.POSITIVE_INFINITY,
    cost,
    allowed,
    remaining,
    resetAfterMs: laterMs,
    retryAfterMs,
    moreAfterMs: laterMs,
    quotaUnit: 'concurrent-requests',
  }
}

/** Returns the limit that denied for longest; where all allowed, the one nearest to exhaustion. */
function bindingLimit(parts: readonly PartDecision[], allowed: boolean): PartDecision {
  let binding = parts[0] as PartDecision
  for (const part of parts) {
    const binds = allowed ? part.remaining < binding.remaining : part.retryAfterMs > binding.retryAfterMs
    if (binds) binding = part
  }
  return binding
}

/**
 * Returns a denial as a limiter in report mode returns it: allowed, with the figures of the limits, which
 * took nothing.
 */
export function reportedDecision(denial: Decision): Decision {
  return withInternalsOf(denial, { ...denial, allowed: true, retryAfterMs: 0 })
}

/** Returns the denial of a request whose charge was allowed, and stays taken: its limits deny it. */
export function deniedDecision(decision: Decision, retryAfterMs: number): Decision {
  const parts = decision.parts.map((part) => ({ ...part, allowed: false, retryAfterMs }))
  return withInternalsOf(decision, { ...decision, allowed: false, retryAfterMs, parts })
}

/** Gives a copy of a decision the keys that were charged, and what a candidate decided beside it. */
function withInternalsOf(decision: Decision, copy: Decision): Decision {
  withCharge(copy, chargeOf(decision) ?? [])
  const tried = triedBeside(decision)
  return tried === undefined ? copy : Object.defineProperty(copy, TRIED, { value: tried })
}

/** Returns a decision with what a candidate decided beside it: a copy of one that requests share. */
export function withTried(decision: Decision, tried: MaybePromise<Decision | undefined>): Decision {
  const own = Object.isFrozen(decision) ? withInternalsOf(decision, { ...decision }) : decision
  return Object.defineProperty(own, TRIED, { value: tried })
}

/** Returns what a candidate decided beside a decision; `undefined` where there is none. */
export function triedBeside(decision: Decision): MaybePromise<Decision | undefined> {
  return (decision as Internals)[TRIED]
}

/** Throws a `TypeError` for a promise in place of a decision: the call would have no effect. */
export function checkDecision(owner: string, decision: unknown): void {
  if (!isPromise(decision)) return
  throw new TypeError(`${owner}: decision must not be a promise. Await what limiter.charge returns.`)
}

/** Refunds what a decision took, once; with `limits`, what the limits of these names took. */
export function refundDecision(decision: Decision, limits?: readonly string[]): MaybePromise<void> {
  return (decision as Internals)[REFUND]?.(limits)
}

/** Makes what a decision took `cost`, or as much as is left; with `limits`, for the limits of these names. */
export function adjustDecision(
  decision: Decision,
  cost: number,
  limits?: readonly string[],
): MaybePromise<void> {
  return (decision as Internals)[ADJUST]?.(cost, limits)
}

/** Returns a subject of `forget` and of changes by hand that stands for these keys, as a decision does. */
export function subjectOfKeys(parts: readonly NamedPart[]): Record<string, unknown> {
  return Object.defineProperty({}, CHARGE, { value: parts })
}

/** Gives a decision what was charged. */
export function withCharge(decision: Decision, charge: readonly NamedPart[]): Decision {
  return Object.defineProperty(decision, CHARGE, { value: charge })
}

/** Returns what was charged, also for a denial; `undefined` for what is not a decision. */
export function chargeOf(value: unknown): readonly NamedPart[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Internals)[CHARGE]
}

/** Returns when the store decided a charge, by the store's clock; `undefined` where it did not. */
export function decidedAtMs(decision: Decision): number | undefined {
  return (decision as Internals)[DECIDED_AT]
}
