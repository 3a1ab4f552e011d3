import { refundsOf } from '../stores/shared/refunds.js'
import type { Part, PartVerdict, Refund, Verdict } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/**
 * Where a decision comes from: the store; a memory of what it denied (`deny-cache`); units or a denial that this process has from
 * the store (`lease`); a memory limiter that stood in for it (`local`); no store could be asked and the request was let through
 * (`open`) or refused (`closed`), as is one whose connection was gone before its address was read; or
 * nothing limits this request (`none`).
 */
export type DecisionSource = 'store' | 'deny-cache' | 'lease' | 'local' | 'open' | 'closed' | 'none'

/** One limit's share in a decision. Times are milliseconds from the decision. */
export interface PartDecision {
  /** The limit's name, as in headers. */
  readonly name: string
  readonly limit: number
  /** `Infinity` = it never resets by itself. */
  readonly windowMs: number
  readonly cost: number
  /** Whether this limit alone would have allowed the charge. */
  readonly allowed: boolean
  readonly remaining: number
  /** Until the whole quota is back. */
  readonly resetAfterMs: number
  /** Until the same cost is allowed; 0 when it is, `Infinity` = never. */
  readonly retryAfterMs: number
  /** Until `remaining` grows. */
  readonly moreAfterMs: number
}

/** What the application and the client are told of one charge. Plain data. */
export interface Decision {
  readonly allowed: boolean
  /** The figures of the part that `policy` names. */
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number
  /** Until the same charge is allowed: the longest of the parts that denied. `Infinity` = never. */
  readonly retryAfterMs: number
  readonly moreAfterMs: number
  /** The name of the part that denied for longest, or of the part nearest to exhaustion; `''` where no limit was asked. */
  readonly policy: string
  /** Each part's own figures; empty where no store was asked. */
  readonly parts: readonly PartDecision[]
  readonly source: DecisionSource
}

/** A part that knows what its limit is called. */
export interface NamedPart extends Part {
  readonly name: string
}

/** Gives back what a charge took by a verdict; with names, what these limits took. */
export type GiveBack = (
  limits: readonly string[] | undefined,
  charge: readonly NamedPart[],
  verdict: Verdict,
) => MaybePromise<void>

/**
 * What a decision answers besides its data. Registered symbols, so that a limiter understands the decisions
 * of a second copy of this package in the process; not enumerable, so that a decision stays plain data.
 */
const CHARGE = Symbol.for('headgate.decision.charge')
const REDEEM = Symbol.for('headgate.decision.redeem')

type Redeemable = {
  readonly [CHARGE]?: readonly NamedPart[] | undefined
  [REDEEM]?(limits: readonly string[] | undefined): MaybePromise<void>
}

/**
 * A decision on a charge. It keeps to itself what was charged and how that is given back, so that it is
 * plain data to everybody else; a copy of it has neither.
 */
class ChargeDecision implements Decision, Redeemable {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number
  readonly retryAfterMs: number
  readonly moreAfterMs: number
  readonly policy: string
  readonly parts: readonly PartDecision[]
  readonly source: DecisionSource
  readonly #charge: readonly NamedPart[]
  readonly #verdict: Verdict
  #giveBack: GiveBack | undefined

  constructor(
    charge: readonly NamedPart[],
    verdict: Verdict,
    telling: Omit<PartDecision, 'allowed'>,
    parts: readonly PartDecision[],
    source: DecisionSource,
    giveBack: GiveBack,
  ) {
    this.allowed = verdict.allowed
    this.limit = telling.limit
    this.remaining = telling.remaining
    this.resetAfterMs = telling.resetAfterMs
    this.retryAfterMs = telling.retryAfterMs
    this.moreAfterMs = telling.moreAfterMs
    this.policy = telling.name
    this.parts = parts
    this.source = source
    this.#charge = charge
    this.#verdict = verdict
    this.#giveBack = verdict.allowed ? giveBack : undefined
  }

  [REDEEM](limits: readonly string[] | undefined): MaybePromise<void> {
    if (!(#giveBack in this)) return
    const giveBack = this.#giveBack
    this.#giveBack = undefined
    return giveBack?.(limits, this.#charge, this.#verdict)
  }

  get [CHARGE](): readonly NamedPart[] | undefined {
    return #charge in this ? this.#charge : undefined
  }
}

/** Makes the decision that a store's verdict on a charge means. `giveBack` is for what an allowed charge took. */
export function decisionOf(
  charge: readonly NamedPart[],
  verdict: Verdict,
  source: 'store' | 'deny-cache' | 'lease' | 'local',
  giveBack: GiveBack,
): Decision {
  const { allowed, parts: verdicts } = verdict
  const first = partDecision(charge[0] as NamedPart, verdicts[0] as PartVerdict)
  const parts = [first]
  for (let i = 1; i < verdicts.length; i++) {
    parts.push(partDecision(charge[i] as NamedPart, verdicts[i] as PartVerdict))
  }
  const telling = parts.length === 1 ? first : tellingPart(parts, allowed)
  return new ChargeDecision(charge, verdict, telling, parts, source, giveBack)
}

function partDecision({ name, policy, cost }: NamedPart, verdict: PartVerdict): PartDecision {
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = verdict
  const { limit, windowMs } = policy
  return { name, limit, windowMs, cost, allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
}

/** The part that denies for longest; when all allow, the one nearest to exhaustion. */
function tellingPart(parts: readonly PartDecision[], allowed: boolean): PartDecision {
  return parts.reduce((a, b) => {
    if (!allowed) return b.retryAfterMs > a.retryAfterMs ? b : a
    return b.remaining < a.remaining ? b : a
  })
}

const UNASKED = {
  limit: Number.POSITIVE_INFINITY,
  resetAfterMs: 0,
  moreAfterMs: 0,
  policy: '',
  parts: Object.freeze([]),
}

/** Nothing limits this request. */
export const UNLIMITED: Decision = withoutCharge({
  ...UNASKED,
  allowed: true,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMs: 0,
  source: 'none',
})

/** No store could be asked, and the request goes through. */
export const OPEN: Decision = withoutCharge({ ...UNLIMITED, source: 'open' })

/** No store could be asked, and the request is refused; asking again soon is what a client can do. */
export const CLOSED: Decision = withoutCharge({
  ...UNASKED,
  allowed: false,
  remaining: 0,
  retryAfterMs: 1000,
  source: 'closed',
})

function withoutCharge(decision: Decision): Decision {
  return Object.freeze(Object.defineProperty(decision, CHARGE, { value: Object.freeze([]) }))
}

/** Gives back what a decision took, once; with names, what these limits took. */
export function redeem(decision: Decision, limits?: readonly string[]): MaybePromise<void> {
  return (decision as Redeemable)[REDEEM]?.(limits)
}

/** What was charged for a decision, also where it was denied; nothing where no store was asked. `undefined` = this is no decision. */
export function chargeOf(value: unknown): readonly NamedPart[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Redeemable)[CHARGE]
}

/** Returns what stands in for a decision where `forget` is to forget these parts. */
export function decisionOn(charge: readonly NamedPart[]): Record<string, unknown> {
  return Object.defineProperty({}, CHARGE, { value: charge })
}

/** What gives back what a charge took; with names, what these limits took. */
export function refundsByName(
  charge: readonly NamedPart[],
  verdict: Verdict,
  limits?: readonly string[],
): Refund[] {
  return refundsOf(charge, verdict).filter(({ cost }, i) => {
    return cost > 0 && limits?.includes((charge[i] as NamedPart).name) !== false
  })
}
