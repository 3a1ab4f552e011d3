import type { ServerResponse } from 'node:http'
import type { Decision } from '../limiter/decision.js'
import type { DenialBody } from './denial-body.js'
import {
  draftHeaders,
  type HeaderList,
  type HeaderWriter,
  legacyHeaders,
  type ResetFormat,
} from './headers.js'

/** Which rate limit headers a response carries. */
export type HeaderStyle = 'legacy' | 'draft' | 'both' | 'none'

/**
 * Makes what tells the rate limit headers that a response is to carry after a decision: none where no store was asked.
 * `isFirst` = no limiter was passed before, so that there are no earlier headers to look at.
 */
export function decisionHeaders(
  style: HeaderStyle,
  reset: ResetFormat,
): (res: ServerResponse, decision: Decision, isFirst: boolean) => HeaderList {
  if (style === 'none') return () => []
  const write = headerWriter(style, reset)
  return function headersOf(res, decision, isFirst) {
    if (decision.parts.length === 0) return []
    return isFirst ? write(decision) : merged(res, decision, write(decision))
  }
}

function headerWriter(style: Exclude<HeaderStyle, 'none'>, reset: ResetFormat): HeaderWriter {
  const legacy: HeaderWriter = (decision) => legacyHeaders(decision, Date.now(), reset)
  if (style === 'legacy') return legacy
  const draft = draftHeaders()
  return style === 'draft' ? draft : (decision) => legacy(decision).concat(draft(decision))
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
