import type { Decision } from '../limiter/decision.js'
import { wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { preferredType } from './accept.js'
import { wholeSeconds } from './quota-headers.js'

export interface DenialBody {
  readonly contentType: string
  readonly body: string
}

/**
 * Why a request is denied, as problem+json says it: a type of draft-ietf-httpapi-ratelimit-headers, or
 * `about:blank`, which adds nothing to the status (RFC 9457).
 */
export interface Problem {
  readonly type: string
  readonly title: string
}

/** The figures of a decision that a body shows: all of them, or fewer. */
export type DenialFigures = Pick<Decision, 'retryAfterMs' | 'parts'>

const IANA_PROBLEM = 'https://iana.org/assignments/http-problem-types#'

export const OVER_LIMIT: Problem = { type: `${IANA_PROBLEM}quota-exceeded`, title: 'Too many requests' }
export const REDUCED_CAPACITY: Problem = {
  type: `${IANA_PROBLEM}temporary-reduced-capacity`,
  title: 'Service temporarily unavailable',
}
export const BLOCKED: Problem = { type: 'about:blank', title: 'Forbidden' }

/** The title of a denial that waiting does not lift: one request may be too large by itself. */
const LASTING = 'Over the limit'

/**
 * Returns a problem document (RFC 9457) for clients that prefer JSON, and a line of plain text for others.
 */
export function denialBody(
  { type, title: usual }: Problem,
  status: number,
  figures: DenialFigures | undefined,
  accept: string | undefined,
): DenialBody {
  const title = figures?.retryAfterMs === Number.POSITIVE_INFINITY ? LASTING : usual
  const detail = figures && retryAdvice(figures.retryAfterMs)
  if (!prefersJson(accept)) return messageBody(`${title}.${detail ? ` ${detail}` : ''}\n`)
  const violated = figures?.parts.filter(({ allowed }) => !allowed).map(({ name }) => name) ?? []
  const problem = {
    type,
    title,
    status,
    ...(detail && { detail }),
    ...(violated.length > 0 && { 'violated-policies': violated }),
  }
  return { contentType: 'application/problem+json', body: JSON.stringify(problem) }
}

/** Returns a string as plain text, anything else as JSON. Throws if JSON cannot hold it. */
function messageBody(message: string | object): DenialBody {
  if (typeof message === 'string') return { contentType: 'text/plain; charset=utf-8', body: message }
  const body: string | undefined = JSON.stringify(message)
  if (body === undefined) throw new TypeError('JSON cannot hold this message')
  return { contentType: 'application/json; charset=utf-8', body }
}

/** Reads the option `message`. Throws a `TypeError` if JSON cannot hold it. */
export function readMessage(owner: string, option: string, message: unknown): DenialBody {
  try {
    if (typeof message === 'string' || isObject(message)) return messageBody(message)
  } catch {
    // JSON.stringify throws for a cycle and for a bigint: reported below, with the fix.
  }
  const must = 'a string, or an object that JSON can hold'
  throw wrongOption(owner, option, must, message, 'Use onDenied to write the whole response.')
}

function retryAdvice(retryAfterMs: number): string {
  if (retryAfterMs === Number.POSITIVE_INFINITY) return 'Waiting will not help.'
  const seconds = wholeSeconds(retryAfterMs)
  return `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`
}

/** In order of our preference. A client that takes anything, such as curl, gets text. */
const OFFERED = ['text/plain', 'application/problem+json', 'application/json']

/** In characters. Browsers send up to about 150; 16 KB of headers hold thousands of ranges to parse. */
const MAX_ACCEPT_LENGTH = 300

/**
 * Returns whether `Accept` prefers JSON over text. Most headers are decided without parsing. A server may
 * disregard the field (RFC 9110 §12.5.1), so one longer than `MAX_ACCEPT_LENGTH` gets text.
 */
function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > MAX_ACCEPT_LENGTH) return false
  if (!/json|application\/\*/i.test(accept)) return false
  const preferred = preferredType(accept, OFFERED)
  return preferred !== undefined && preferred !== 'text/plain'
}
