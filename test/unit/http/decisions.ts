import type { Decision } from 'headgate'
import type { PartDecision } from '../../../src/limiter/decision.js'

const PART: PartDecision = {
  name: 'api',
  limit: 100,
  windowMs: 60_000,
  cost: 1,
  allowed: true,
  remaining: 42,
  resetAfterMs: 34_800,
  retryAfterMs: 0,
  moreAfterMs: 600,
}

/** A part with some figures of its own. */
export function partOf(figures: Partial<PartDecision> = {}): PartDecision {
  return { ...PART, ...figures }
}

/** The decision of some parts, which shows the figures of the first. */
export function decisionOf(...parts: PartDecision[]): Decision {
  const [first = PART] = parts
  const { limit, remaining, resetAfterMs, moreAfterMs, name } = first
  return {
    allowed: parts.every(({ allowed }) => allowed),
    limit,
    remaining,
    resetAfterMs,
    retryAfterMs: Math.max(0, ...parts.map(({ retryAfterMs }) => retryAfterMs)),
    moreAfterMs,
    limitName: name,
    parts,
    source: 'store',
  }
}

/** A decision of one part that denies. */
export function denialOf(retryAfterMs: number, figures: Partial<PartDecision> = {}): Decision {
  return decisionOf(partOf({ allowed: false, remaining: 0, retryAfterMs, ...figures }))
}

/** A list of name, value, name, value as pairs. */
export function headerEntries(list: readonly string[]): [name: string, value: string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] as string] as [string, string]] : []))
}
