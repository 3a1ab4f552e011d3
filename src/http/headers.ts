import type { Decision, PartDecision } from '../limiter/decision.js'

/** Response headers in one flat list, as `rawHeaders` has them: name, value, name, value. */
export type HeaderList = string[]

/** How `X-RateLimit-Reset` counts: seconds since the Unix epoch, or seconds from now. */
export type ResetFormat = 'epoch-seconds' | 'delta-seconds'

/**
 * `X-RateLimit-Limit`, `-Remaining` and `-Reset`, which have no standard. `-Reset` tells when the whole quota is back,
 * in whole seconds, rounded up; it is left out where time alone brings nothing back.
 */
export function legacyHeaders(decision: Decision, nowMs: number, reset: ResetFormat): HeaderList {
  const { resetAfterMs } = decision
  const limit = String(decision.limit)
  const remaining = String(decision.remaining)
  if (resetAfterMs === Number.POSITIVE_INFINITY)
    return ['X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining]
  const resetAt = String(wholeSeconds(reset === 'epoch-seconds' ? nowMs + resetAfterMs : resetAfterMs))
  return ['X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining, 'X-RateLimit-Reset', resetAt]
}

/** Tells a decision in headers. */
export type HeaderWriter = (decision: Decision) => HeaderList

/**
 * Makes the writer of `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, structured-field Lists
 * (RFC 9651) with an item for each limit. `t` is the time until more quota, not until all of it. Names need no escaping:
 * options admit only letters, digits, dots, dashes and underscores. The policies are written when they are others than before.
 */
export function draftHeaders(): HeaderWriter {
  let known: readonly PartDecision[] = []
  let policies = ''
  return function tellDraft({ parts }) {
    if (!haveSamePolicies(parts, known)) {
      known = parts
      policies = listOf(parts, policyItem)
    }
    return ['RateLimit-Policy', policies, 'RateLimit', listOf(parts, limitItem)]
  }
}

function haveSamePolicies(some: readonly PartDecision[], others: readonly PartDecision[]): boolean {
  if (some.length !== others.length) return false
  return some.every(({ name, limit, windowMs }, i) => {
    const other = others[i] as PartDecision
    return name === other.name && limit === other.limit && windowMs === other.windowMs
  })
}

function listOf(parts: readonly PartDecision[], item: (part: PartDecision) => string): string {
  return parts.length === 1 ? item(parts[0] as PartDecision) : parts.map(item).join(', ')
}

function policyItem({ name, limit, windowMs }: PartDecision): string {
  return `"${name}";q=${sfInteger(limit)}${seconds('w', windowMs)}`
}

function limitItem({ name, remaining, moreAfterMs }: PartDecision): string {
  return `"${name}";r=${sfInteger(remaining)}${seconds('t', moreAfterMs)}`
}

function seconds(parameter: string, durationMs: number): string {
  return durationMs === Number.POSITIVE_INFINITY ? '' : `;${parameter}=${wholeSeconds(durationMs)}`
}

/** The largest integer that a structured field can hold (RFC 9651 §3.3.1); one beyond makes clients drop the field. */
const MAX_SF_INTEGER = 999_999_999_999_999

function sfInteger(value: number): number {
  return Math.min(value, MAX_SF_INTEGER)
}

/**
 * Returns milliseconds as whole seconds, rounded up. Less than half a microsecond is a rounding error of
 * doubles.
 */
export function wholeSeconds(durationMs: number): number {
  return Math.ceil(Math.round(durationMs * 1000) / 1e6)
}

/**
 * `Retry-After` in whole seconds, rounded up (RFC 9110 §10.2.3), where waiting helps at all, and `Cache-Control: no-store`,
 * since a 429 must not be stored by a cache (RFC 6585 §4).
 */
export function denialHeaders({ retryAfterMs }: Decision): HeaderList {
  if (retryAfterMs === Number.POSITIVE_INFINITY) return ['Cache-Control', 'no-store']
  return ['Cache-Control', 'no-store', 'Retry-After', String(wholeSeconds(retryAfterMs))]
}
