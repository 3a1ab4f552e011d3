import type { GuardedStore } from './stores/guard.js'
import type { Charge, Part, PartVerdict, Refund, Verdict } from './stores/store.js'

/**
 * Where a decision comes from: the store; a memory limiter that stood in for it (`local`); no store could be asked and
 * the request was let through (`open`) or refused (`closed`); or nothing limits this request (`none`).
 */
export type DecisionSource = 'store' | 'local' | 'open' | 'closed' | 'none'

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

/** What a refund needs to know of a decision: where its units went, and when. Given back once. */
interface Receipt {
  readonly store: GuardedStore
  readonly charge: Charge
  readonly atMs: number
  returned: boolean
}

const RECEIPT = Symbol('headgate.receipt')

type WithReceipt = Decision & { readonly [RECEIPT]?: Receipt }

/** Makes the decision that a store's verdict on a charge means. */
export function decisionOf(
  charge: readonly NamedPart[],
  verdict: Verdict,
  source: 'store' | 'local',
  store: GuardedStore,
): Decision {
  const parts = verdict.parts.map((part, i) => partDecision(charge[i] as NamedPart, part))
  const { name, limit, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = tellingPart(
    parts,
    verdict.allowed,
  )
  const receipt: Receipt | undefined = verdict.allowed
    ? { store, charge, atMs: verdict.atMs, returned: false }
    : undefined
  const decision: WithReceipt = {
    allowed: verdict.allowed,
    limit,
    remaining,
    resetAfterMs,
    retryAfterMs,
    moreAfterMs,
    policy: name,
    parts,
    source,
    [RECEIPT]: receipt as Receipt,
  }
  return decision
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
export const UNLIMITED: Decision = Object.freeze({
  ...UNASKED,
  allowed: true,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMs: 0,
  source: 'none' as const,
})

/** No store could be asked, and the request goes through. */
export const OPEN: Decision = Object.freeze({ ...UNLIMITED, source: 'open' as const })

/** No store could be asked, and the request is refused; asking again soon is what a client can do. */
export const CLOSED: Decision = Object.freeze({
  ...UNASKED,
  allowed: false,
  remaining: 0,
  retryAfterMs: 1000,
  source: 'closed' as const,
})

/** What a decision took and has not given back yet, marked as given back. Empty for a decision that took nothing. */
export function redeem(decision: Decision): { store: GuardedStore; refunds: Refund[] } | undefined {
  const receipt = (decision as WithReceipt)[RECEIPT]
  if (receipt === undefined || receipt.returned) return undefined
  receipt.returned = true
  const { store, charge, atMs } = receipt
  const taken = charge.filter(({ cost }) => cost > 0)
  return { store, refunds: taken.map(({ key, policy, cost }) => ({ key, policy, cost, takenAtMs: atMs })) }
}
