import type { Decision, PartDecision } from '../limiter/decision.js'
import type { HeaderList } from './header-list.js'
import type { ResponseWriter } from './response-writer.js'

/**
 * Which quota headers a response has. `'legacy'`: `X-RateLimit-*`. `'draft'`: those of the IETF draft.
 * `'both'` or `'none'`.
 */
export type HeaderStyle = 'legacy' | 'draft' | 'both' | 'none'

/** How `X-RateLimit-Reset` counts: seconds since the Unix epoch, or seconds from now. */
export type ResetFormat = 'epoch-seconds' | 'delta-seconds'

/**
 * The `retryAfterMs` of a denial that waiting cannot lift, as for a cost above the limit. Its headers invite
 * no retry: they have no times, and say that nothing remains.
 */
const NEVER = Number.POSITIVE_INFINITY

/** Returns the quota headers of a decision, if no other limiter has set any: none if no store decided. */
export function quotaHeaders(style: HeaderStyle, reset: ResetFormat, decision: Decision): HeaderList {
  if (style === 'none' || decision.parts.length === 0) return []
  const legacy = style === 'draft' ? [] : legacyHeaders(decision, Date.now(), reset)
  return style === 'legacy' ? legacy : legacy.concat(draftHeaders(decision))
}

/** Which quota headers a limiter sets, and how. */
export interface HeaderSettings<Res> {
  readonly style: HeaderStyle
  readonly reset: ResetFormat
  readonly writer: ResponseWriter<Res>
}

/**
 * Returns the quota headers of a response, or none if no store decided. If `isFirst`, no other limiter has
 * decided the request, so there are no headers to merge with.
 */
export function rateLimitHeaders<Res>(
  { style, reset, writer }: HeaderSettings<Res>,
  res: Res,
  decision: Decision,
  isFirst: boolean,
): HeaderList {
  if (isFirst && decision.retryAfterMs !== NEVER) return quotaHeaders(style, reset, decision)
  if (style === 'none' || decision.parts.length === 0) return []
  const isShown = style !== 'draft' && isNearer(writer, res, decision)
  if ((style === 'legacy' && !isShown) || writer.areHeadersSent(res)) return []
  if (isShown) writer.removeHeader(res, 'X-RateLimit-Reset') // this decision may not set it
  const legacy = isShown ? legacyHeaders(decision, Date.now(), reset) : []
  return style === 'legacy' ? legacy : legacy.concat(appendTo(writer, res, draftHeaders(decision)))
}

/**
 * Returns whether the legacy headers should describe this decision rather than that of an earlier limiter on
 * the route: if it denies, or is nearer to exhaustion.
 */
function isNearer<Res>(writer: ResponseWriter<Res>, res: Res, { allowed, remaining }: Decision): boolean {
  const earlier = writer.getHeader(res, 'X-RateLimit-Remaining')
  return earlier === undefined || !allowed || !(remaining >= Number(earlier)) // NaN for a foreign value
}

/** Returns the draft's headers, which are lists, appended to those of earlier limiters. */
function appendTo<Res>(writer: ResponseWriter<Res>, res: Res, headers: HeaderList): HeaderList {
  return headers.map((text, i) => {
    const name = i % 2 === 1 ? headers[i - 1] : undefined
    const list = name === undefined ? undefined : writer.getHeader(res, name)
    return list === undefined ? text : `${list}, ${text}`
  })
}

/**
 * Returns `X-RateLimit-Limit`, `-Remaining` and `-Reset`, which have no standard. `-Reset` is when the whole
 * quota is back, in whole seconds, rounded up. It is left out if the quota does not come back with time.
 */
export function legacyHeaders(decision: Decision, nowMs: number, reset: ResetFormat): HeaderList {
  const { resetAfterMs, retryAfterMs } = decision
  const limit = String(decision.limit)
  const remaining = String(retryAfterMs === NEVER ? 0 : decision.remaining)
  if (resetAfterMs === NEVER || retryAfterMs === NEVER)
    return ['X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining]
  const resetAt = String(wholeSeconds(reset === 'epoch-seconds' ? nowMs + resetAfterMs : resetAfterMs))
  return ['X-RateLimit-Limit', limit, 'X-RateLimit-Remaining', remaining, 'X-RateLimit-Reset', resetAt]
}

/**
 * Returns `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, structured-field
 * Lists (RFC 9651) with an item for each limit. `t` is the time until more quota, not until all of it. Names
 * need no escaping: options admit only letters, digits, dots, dashes and underscores.
 */
export function draftHeaders({ parts }: Decision): HeaderList {
  return ['RateLimit-Policy', listOf(parts, policyItem), 'RateLimit', listOf(parts, limitItem)]
}

function listOf(parts: readonly PartDecision[], item: (part: PartDecision) => string): string {
  const first = parts[0]
  return first !== undefined && parts.length === 1 ? item(first) : parts.map(item).join(', ')
}

function policyItem({ name, limit, windowMs, quotaUnit }: PartDecision): string {
  const unit = quotaUnit === undefined ? '' : `;qu="${quotaUnit}"`
  return `"${name}";q=${sfInteger(limit)}${unit}${seconds('w', windowMs)}`
}

function limitItem(part: PartDecision): string {
  if (part.retryAfterMs === NEVER) return `"${part.name}";r=0`
  return `"${part.name}";r=${sfInteger(part.remaining)}${seconds('t', part.moreAfterMs)}`
}

function seconds(parameter: string, durationMs: number): string {
  return durationMs === NEVER ? '' : `;${parameter}=${wholeSeconds(durationMs)}`
}

/** Returns at most the largest integer of a structured field (RFC 9651 §3.3.1). */
function sfInteger(value: number): number {
  return Math.min(value, 999_999_999_999_999)
}

/**
 * Returns `Cache-Control: no-store`, because a cache must not store a 429 (RFC 6585 §4). If waiting helps at
 * all, also returns `Retry-After` in whole seconds, rounded up (RFC 9110 §10.2.3).
 */
export function denialHeaders({ retryAfterMs }: Pick<Decision, 'retryAfterMs'>): HeaderList {
  if (retryAfterMs === NEVER) return NO_STORE
  return [...NO_STORE, 'Retry-After', String(wholeSeconds(retryAfterMs))]
}

/** A header of every denial, because no cache may send it to another client. */
export const NO_STORE: HeaderList = ['Cache-Control', 'no-store']

/** Returns milliseconds as whole seconds, rounded up. Less than half a microsecond is a rounding error. */
export function wholeSeconds(durationMs: number): number {
  return Math.ceil(Math.round(durationMs * 1000) / 1e6)
}
