import type { LimiterCore } from '../../limiter/core.js'
import {
  asDecided,
  type ChargeSource,
  type Decision,
  decisionOf,
  type PartDecision,
} from '../../limiter/decision.js'
import type { NamedPart } from '../../limiter/receipt.js'
import type { PartResult } from '../../stores/operation.js'
import { type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'

/**
 * Returns a function that charges parts without counting a denial. If a limit is a ban, it peeks first, and
 * charges only what the peek allows. A denial may still count if others take units between the two.
 */
export function chargeUncounted(
  chargeParts: LimiterCore['chargeParts'],
): (parts: readonly NamedPart[], subject: unknown) => MaybePromise<Decision> {
  return (parts, subject) => {
    const isCounted = parts.some(({ policy, cost }) => cost > 0 && policy.isBan)
    if (!isCounted) return chargeParts(parts, subject, asDecided)
    const peeks = parts.map((part) => ({ ...part, cost: 0 }))
    return thenMaybe(chargeParts(peeks, subject, asDecided), (peek) => {
      if (peek.parts.length === 0) return peek // the store could not decide
      const figures = parts.map((part, i) => figuresFor(part, peek.parts[i] as PartDecision))
      if (figures.every(({ allowed }) => allowed)) return chargeParts(parts, subject, asDecided)
      const denial = { type: 'charge', allowed: false, atMs: Date.now(), parts: figures } as const
      return decisionOf(peek.source as ChargeSource, { parts, isRefundable: false }, denial)
    })
  }
}

/** Returns the figures of a part by those of a peek. `retryAfterMs` may be too early, never too late. */
function figuresFor({ policy, cost }: NamedPart, peek: PartDecision): PartResult {
  const { limit, remaining, resetAfterMs, moreAfterMs } = peek
  const isNeverAllowed = cost > policy.limit
  const units = Math.min(cost, limit) // the fallback takes its share at most
  const allowed = !isNeverAllowed && units <= remaining
  const laterMs = isNeverAllowed ? Number.POSITIVE_INFINITY : Math.max(1, moreAfterMs)
  return { allowed, remaining, resetAfterMs, retryAfterMs: allowed ? 0 : laterMs, moreAfterMs }
}
