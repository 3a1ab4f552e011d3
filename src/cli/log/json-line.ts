import { parseJsonTime } from './log-time.js'
import { isLoggedClient } from './logged-client.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from './request-line.js'

/**
 * The usual names of each field, in nginx, Caddy, Traefik, pino-http, Bunyan and others; the first with a
 * value counts. Times with fractions of a second, and paths as they were sent, come before others.
 */
export const NAMES = {
  time: [
    ...['msec', 'StartUTC', 'time', 'timestamp', '@timestamp', 'ts', 'time_iso8601', 'time_local', 'date'],
    ...['datetime'],
  ],
  address: [
    ...['ip', 'remote_addr', 'client_ip', 'remote_ip', 'clientIp', 'remoteAddress', 'remoteAddr', 'clientip'],
    ...['ClientHost', 'address', 'request.client_ip', 'request.remote_ip', 'req.ip', 'req.remoteAddress'],
    ...['client.ip', 'source.ip', 'httpRequest.remoteIp', 'remote_host', 'client'],
  ],
  user: [
    ...['user', 'remote_user', 'user_id', 'userId', 'username', 'ClientUsername', 'request.user_id'],
    ...['user.id', 'user.name', 'req.user.id'],
  ],
  method: [
    ...['method', 'request_method', 'RequestMethod', 'request.method', 'req.method', 'http.request.method'],
    ...['httpRequest.requestMethod', 'verb'],
  ],
  path: [
    ...['request_uri', 'path', 'url', 'RequestPath', 'originalUrl', 'request.uri', 'req.url', 'url.path'],
    ...['httpRequest.requestUrl'],
  ],
  /** nginx' path after its rewrites: used only if there is no other. */
  rewritten: ['uri'],
} as const

/**
 * Reads a line that is a JSON object. A line without a time or an address is unreadable; one without a
 * method and a path is a request all the same. Lines that an application logs while it handles a request, or
 * when it responds, are none.
 */
export function readJsonLine(line: string, into: LoggedRequest): LineKind {
  const fields = parseObject(line)
  if (fields === undefined) return 'unreadable'
  into.timeMs = timeOf(fields)
  if (Number.isNaN(into.timeMs)) return 'unreadable'
  if (isWithinRequest(fields)) return 'other'
  const address = textOf(fields, NAMES.address)
  if (address === undefined) return 'res' in fields ? 'other' : 'unreadable'
  into.address = address.slice(address.lastIndexOf(',') + 1).trim() // of a list, the nearest proxy wrote the last
  if (!isLoggedClient(into.address)) return 'unreadable'
  into.forwarded = undefined
  into.user = textOf(fields, NAMES.user)
  into.fields = fields
  into.method = textOf(fields, NAMES.method) ?? ''
  into.path = pathOf(textOf(fields, NAMES.path) ?? '')
  const { request } = fields
  if (into.path === '' && typeof request === 'string')
    return readRequestLine(request, into) ? 'request' : 'other'
  if (into.path === '') into.path = pathOf(textOf(fields, NAMES.rewritten) ?? '')
  return 'request'
}

/**
 * Returns whether an application logged a line while it handled a request: pino-http puts `req` into each,
 * and only what it logs at the end has the response. Fastify logs a request when it comes.
 */
function isWithinRequest(fields: Readonly<Record<string, unknown>>): boolean {
  if (typeof fields.req !== 'object' || fields.req === null || fields.msg === 'incoming request') return false
  return !('res' in fields || 'responseTime' in fields || 'statusCode' in fields)
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(
      HIGH_BYTES.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line,
    )
    return isObject(value) ? value : undefined
  } catch {
    return undefined // reported as an unreadable line
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Lines are read as Latin-1, JSON is UTF-8. */
const HIGH_BYTES = /[\u0080-\u00ff]/

/** Returns the first of several fields with a value, as text. Servers log `""` or `"-"` for none. */
function textOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fieldOf(fields, name)
    if (typeof value === 'string' && value !== '' && value !== '-') return value
    if (typeof value === 'number') return String(value)
  }
  return undefined
}

/** Returns the first of the times that is one; `NaN` if there is none. */
function timeOf(fields: Readonly<Record<string, unknown>>): number {
  for (const name of NAMES.time) {
    if (!Object.hasOwn(fields, name)) continue
    const timeMs = parseJsonTime(fields[name])
    if (!Number.isNaN(timeMs)) return timeMs
  }
  return Number.NaN
}

/** Returns a field by its name; one with dots may also be the path of a nested field. */
export function fieldOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name]
  const dotAt = name.indexOf('.')
  if (dotAt < 0) return undefined
  const outer = name.slice(0, dotAt)
  const inner = Object.hasOwn(fields, outer) ? fields[outer] : undefined
  return isObject(inner) ? fieldOf(inner, name.slice(dotAt + 1)) : undefined
}
