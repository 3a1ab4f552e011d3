import type { ServerResponse } from 'node:http'
import type { Decision } from '../decision.js'
import type { DenialBody } from './denial.js'
import { draftHeaders, type HeaderList, legacyHeaders, type ResetFormat } from './headers.js'

/** Which rate limit headers a response carries. */
export type HeaderStyle = 'legacy' | 'draft' | 'both' | 'none'

/**
 * The rate limit headers that a response is to carry after this decision. Nothing where no store was asked. `isFirst` = no
 * limiter was passed before, so that there are no earlier headers to look at.
 */
export function decisionHeaders(
  res: ServerResponse,
  decision: Decision,
  style: HeaderStyle,
  reset: ResetFormat,
  isFirst: boolean,
): HeaderList {
  if (style === 'none' || decision.parts.length === 0) return []
  const legacy = style === 'draft' ? [] : legacyHeaders(decision, Date.now(), reset)
  const headers = style === 'legacy' ? legacy : legacy.concat(draftHeaders(decision))
  return isFirst ? headers : merged(res, decision, headers)
}

/**
 * With several limiters on a route, the legacy headers show the one that denies, or else is nearest to exhaustion; the
 * draft's are lists, and add up.
 */
function merged(res: ServerResponse, { allowed, remaining }: Decision, headers: HeaderList): HeaderList {
  const shown = res.getHeader('X-RateLimit-Remaining')
  const isNearest = shown === undefined || !allowed || remaining < Number(shown)
  if (isNearest) res.removeHeader('X-RateLimit-Reset') // an earlier limiter's, where this one has none
  const kept: HeaderList = []
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string]
    if (!name.startsWith('X-')) kept.push(name, appended(res.getHeader(name), value))
    else if (isNearest) kept.push(name, value)
  }
  return kept
}

function appended(earlier: unknown, value: string): string {
  return earlier === undefined ? value : `${earlier}, ${value}`
}

/** Sets headers on a response that somebody else will send. */
export function setAll(res: ServerResponse, headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string)
}

/** Sends a whole answer in one go. Always false: the request does not go on. */
export function send(res: ServerResponse, status: number, headers: HeaderList, body: DenialBody): false {
  const byName: Record<string, string> = {} // not the list: on-headers before 1.1 reads a list as one of pairs
  for (let i = 0; i < headers.length; i += 2) byName[headers[i] as string] = headers[i + 1] as string
  byName['Content-Type'] = body.contentType
  byName['Content-Length'] = String(Buffer.byteLength(body.text))
  res.writeHead(status, byName)
  res.end(body.text)
  return false
}
