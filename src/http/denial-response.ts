import type { Decision } from '../limiter/decision.js'
import { optional, readOptions, withDefault } from '../options/option-table.js'
import { isPromise } from '../util/maybe-promise.js'
import { choice, showKind, whole, wrongOption } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import {
  BLOCKED,
  type DenialBody,
  type DenialFigures,
  denialBody,
  OVER_LIMIT,
  type Problem,
  REDUCED_CAPACITY,
  readMessage,
} from './denial-body.js'
import { headersByName } from './header-list.js'
import { denialHeaders, type HeaderStyle, NO_STORE, quotaHeaders, type ResetFormat } from './quota-headers.js'
import { contentHeaders, type DenialResponse } from './response-writer.js'

/** Options of `responseFor`. */
export interface ResponseOptions {
  /** The `Accept` header of the request. If it prefers JSON, the body of a denial is problem+json. */
  accept?: string | null | undefined
  /** Which quota headers to send, besides a denial's `Retry-After`. Default `'legacy'` (`X-RateLimit-*`). */
  headers?: HeaderStyle
  /** The format of `X-RateLimit-Reset`. Default `'epoch-seconds'`. */
  resetFormat?: ResetFormat
  /** The status of a denial by a limit, from 400 to 599. Default 429, or 403 if waiting cannot help. */
  statusCode?: number
  /** The body of a denial by a limit: a string as plain text, an object as JSON. */
  message?: string | object
}

/** What a server sends for a decision. */
export interface ResponseParts {
  /**
   * The status of a denied request, or `undefined` if the request is allowed. It is 429 or `statusCode`, 403
   * if waiting cannot help or its IP address is in `block`, and 503 if the store failed.
   */
  readonly status: number | undefined
  /** Headers for the response, whether or not the request is allowed. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of a denial, or `undefined` if the request is allowed. */
  readonly body: string | undefined
}

export const RESPONSE_ROWS = {
  headers: withDefault('legacy', readHeaders),
  resetFormat: withDefault('epoch-seconds', choice('epoch-seconds', 'delta-seconds')),
  statusCode: optional(whole(400, 599, 429)),
  message: optional(readMessage),
}

/**
 * Returns what the middleware would send for a decision, for servers that have no middleware. That is the
 * quota headers, and for a denial also the status, the body, `Retry-After` and `Cache-Control: no-store`.
 *
 * In report mode, the middleware sends no headers. A decision does not show that mode, so write
 * `headers: 'none'` then.
 *
 * Throws a `TypeError` for wrong options, and if `decision` is not a decision, such as a promise of one.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createLimiter, responseFor } from 'headgate/http'
 *
 * const limiter = createLimiter({ limit: 100, window: '1m' })
 * createServer(async (req, res) => {
 *   const decision = await limiter.charge(req)
 *   const response = responseFor(decision, { accept: req.headers.accept })
 *   const { status = 200, headers, body = 'hello' } = response
 *   res.writeHead(status, headers).end(body)
 * }).listen(3000)
 * ```
 */
export function responseFor(decision: Decision, options: ResponseOptions = {}): ResponseParts {
  checkDecision(decision)
  const table = { rows: { ...RESPONSE_ROWS, accept: optional(readAccept) } }
  const { headers: style, resetFormat, accept, ...denial } = readOptions('responseFor', options, table)
  const headers = quotaHeaders(style, resetFormat, decision)
  if (decision.allowed) return { status: undefined, headers: headersByName(headers), body: undefined }
  const response = denialResponse(decision, decision, denial, accept)
  const all = headers.concat(response.headers, contentHeaders(response))
  return { status: response.status, headers: headersByName(all), body: response.body }
}

function checkDecision(decision: unknown): void {
  const must = 'decision must be a decision of a limiter'
  if (isPromise(decision))
    throw new TypeError(`responseFor: ${must}, got a promise. Write responseFor(await decision).`)
  if (!Array.isArray(fieldsOf(decision).parts))
    throw new TypeError(`responseFor: ${must}, got ${showKind(decision)}.`)
}

export interface DenialSettings {
  readonly statusCode: number | undefined
  readonly message?: DenialBody | undefined
}

/** Returns the response to a denied request. `figures` are what it shows of the decision. */
export function denialResponse(
  { source }: Pick<Decision, 'source'>,
  figures: DenialFigures,
  settings: DenialSettings,
  accept: string | undefined,
): DenialResponse {
  if (source === 'blocked') return undecidedDenial(BLOCKED, 403, accept)
  const headers = denialHeaders(figures)
  if (source === 'fail-closed')
    return { status: 503, headers, ...denialBody(REDUCED_CAPACITY, 503, figures, accept) }
  const status = statusOf(settings, source, figures)
  const problem = source === 'overload' ? REDUCED_CAPACITY : OVER_LIMIT
  const body = settings.message ?? denialBody(problem, status, figures, accept)
  return { status, headers, ...body }
}

/**
 * Returns the status of a denial by a limit. HTTP clients repeat a 429 by themselves, whatever its headers
 * say. A 403 tells them not to (RFC 9110 §15.5.4).
 */
export function statusOf(
  { statusCode }: DenialSettings,
  source: Decision['source'],
  { retryAfterMs }: DenialFigures,
): number {
  if (source === 'overload') return statusCode ?? 503
  return statusCode ?? (retryAfterMs === Number.POSITIVE_INFINITY ? 403 : 429)
}

/** Returns the response to a request that was denied before any limit decided. */
export function undecidedDenial(
  problem: Problem,
  status: number,
  accept: string | undefined,
): DenialResponse {
  return { status, headers: NO_STORE, ...denialBody(problem, status, undefined, accept) }
}

const headerStyle = choice('legacy', 'draft', 'both', 'none')

function readHeaders(owner: string, option: string, value: unknown): HeaderStyle {
  if (value !== false && value !== true) return headerStyle(owner, option, value)
  const must = "one of 'legacy', 'draft', 'both', 'none'"
  throw wrongOption(owner, option, must, value, `Write headers: ${value ? "'both'" : "'none'"}.`)
}

function readAccept(_owner: string, _option: string, accept: unknown): string | undefined {
  return typeof accept === 'string' ? accept : undefined
}
