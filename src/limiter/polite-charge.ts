import type { PartVerdict, Verdict } from '../stores/operation.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type ChargeSource, type Decision, denialOf, type NamedPart, type PartDecision } from './decision.js'

type ChargeParts = (parts: readonly NamedPart[], subject: unknown) => MaybePromise<Decision>

/**
 * Returns a function that charges as `charge` does, but whose denials count for no ban: where a limit is a
 * ban, it peeks first, and charges only what the peek allows. A denial may still count where others take
 * units between the two.
 */
export function politeCharge(charge: ChargeParts): ChargeParts {
  return (parts, subject) => {
    if (!parts.some(({ policy, cost }) => cost > 0 && policy.isBan)) return charge(parts, subject)
    const peeks = parts.map((part) => ({ ...part, cost: 0 }))
    return thenMaybe(charge(peeks, subject), (peek) => {
      if (peek.parts.length === 0) return peek // the store could not decide
      const figures = parts.map((part, i) => figuresFor(part, peek.parts[i] as PartDecision))
      if (figures.every(({ allowed }) => allowed)) return charge(parts, subject)
      const verdict: Verdict = { type: 'charge', allowed: false, atMs: Date.now(), parts: figures }
      return denialOf(peek.source as ChargeSource, parts, verdict)
    })
  }
}

/** Returns the figures of a part by those of a peek. `retryAfterMs` may be too early, never too late. */
function figuresFor({ policy, cost }: NamedPart, peek: PartDecision): PartVerdict {
  const { limit, remaining, resetAfterMs, moreAfterMs } = peek
  const isNeverAllowed = cost > policy.limit
  const units = Math.min(cost, limit) // the fallback takes its share at most
  const allowed = !isNeverAllowed && units <= remaining
  const laterMs = isNeverAllowed ? Number.POSITIVE_INFINITY : Math.max(1, moreAfterMs)
  return { allowed, remaining, resetAfterMs, retryAfterMs: allowed ? 0 : laterMs, moreAfterMs }
}
