import { RecentMap } from '../../util/recent-map.js'
import { endsWithAddress } from './client-address.js'
import type { FoundFields } from './find-fields.js'
import { isObject, type JsonObject } from './json-text.js'
import { isLoggedClient } from './logged-client.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from './request-line.js'

/** Reads a request from the fields that were found in an object. */
export function readRequest(
  fields: JsonObject,
  { texts }: FoundFields,
  timeMs: number,
  into: LoggedRequest,
): LineKind {
  if (Number.isNaN(timeMs)) return 'unreadable'
  if (isWithinRequest(fields)) return 'other'
  const { client, forwarded, user, method, path, request, rewritten } = texts
  if (client === undefined && forwarded === undefined) return 'res' in fields ? 'other' : 'unreadable'
  into.address = lastOf(client ?? '')
  into.forwarded = forwarded
  const hasClient = into.address === '' ? endsWithAddress(forwarded ?? '') : isLoggedClient(into.address)
  if (!hasClient) return 'unreadable'
  into.timeMs = timeMs
  into.user = user
  into.fields = fields
  into.method = method ?? ''
  into.path = pathOf(path ?? rewritten ?? '')
  if (request?.startsWith('/')) {
    into.path = pathOf(request) // of Logstash, whose field `path` is a file
    return 'request'
  }
  if (request === undefined || (path !== undefined && method !== undefined)) return 'request'
  if (!readRequestLine(request, into)) return path === undefined ? 'other' : 'request'
  if (path !== undefined) into.path = pathOf(path)
  if (method !== undefined) into.method = method
  return 'request'
}

/** Returns the last address of a list, which the nearest proxy wrote. */
function lastOf(addresses: string): string {
  return addresses.slice(addresses.lastIndexOf(',') + 1).trim()
}

/** How OpenTelemetry marks a request that a server has sent to another. */
const CLIENT_SPANS: ReadonlySet<unknown> = new Set([3, 'SPAN_KIND_CLIENT'])

/**
 * Returns whether an application logged a line while it handled a request: pino-http puts `req` into each,
 * and only what it logs at the end has the response. Fastify logs a request when it comes, without an id in it.
 */
function isWithinRequest(fields: JsonObject): boolean {
  const { req, msg, kind } = fields
  if (CLIENT_SPANS.has(kind)) return true
  if (!isObject(req) || (msg === 'incoming request' && !('id' in req))) return false
  return !('res' in fields || 'responseTime' in fields || 'statusCode' in fields)
}

/** How many requests are remembered: what Vercel logs of one comes within seconds. */
const REMEMBERED = 10_000
const MAX_ID_LENGTH = 100

/**
 * Creates a function that returns whether a request has been logged before: Vercel puts the request into each
 * line that a function writes while it handles it.
 */
export function repeatFinder(): (fields: JsonObject) => boolean {
  const seen = new RecentMap<true>(REMEMBERED)
  return function isRepeated({ requestId, proxy }) {
    if (typeof requestId !== 'string' || requestId.length > MAX_ID_LENGTH || !isObject(proxy)) return false
    const id = `${requestId} ${proxy.timestamp}`
    if (seen.get(id)) return true
    seen.set(id, true)
    return false
  }
}
