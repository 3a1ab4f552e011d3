import type { ServerResponse } from 'node:http'
import type { Decision } from '../decision.js'
import type { DenialBody } from './denial.js'
import { draftHeaders, type HeaderPair, legacyHeaders, type ResetFormat } from './headers.js'

/** Which rate limit headers a response carries. */
export type HeaderStyle = 'legacy' | 'draft' | 'both' | 'none'

/** Puts the headers of a decision on a response that has not been sent. Nothing where no store was asked. */
export function setDecisionHeaders(
  res: ServerResponse,
  decision: Decision,
  style: HeaderStyle,
  reset: ResetFormat,
): void {
  if (style === 'none' || decision.parts.length === 0 || res.headersSent) return
  if (style !== 'draft' && isNearest(res, decision)) {
    res.removeHeader('X-RateLimit-Reset') // an earlier limiter's, where this one has none
    setAll(res, legacyHeaders(decision, Date.now(), reset))
  }
  if (style !== 'legacy') for (const pair of draftHeaders(decision)) appendToList(res, pair)
}

/** With several limiters on a route, the legacy headers show the one that denies, or else is nearest to exhaustion. */
function isNearest(res: ServerResponse, { allowed, remaining }: Decision): boolean {
  const shown = res.getHeader('X-RateLimit-Remaining')
  return shown === undefined || !allowed || remaining < Number(shown)
}

/** Draft headers are lists, so several limiters on a route add up. */
function appendToList(res: ServerResponse, [name, value]: HeaderPair): void {
  const earlier = res.getHeader(name)
  res.setHeader(name, earlier === undefined ? value : `${earlier}, ${value}`)
}

/** Sets headers, replacing those of the same name. */
export function setAll(res: ServerResponse, pairs: readonly HeaderPair[]): void {
  for (const [name, value] of pairs) res.setHeader(name, value)
}

/** Sends a whole answer in one go. Always false: the request does not go on. */
export function send(res: ServerResponse, status: number, { contentType, text }: DenialBody): false {
  res.statusCode = status
  res.setHeader('Content-Type', contentType)
  res.end(text)
  return false
}
