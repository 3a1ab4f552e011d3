import { parseJsonTime } from './log-time.js'
import { type LineKind, type LoggedRequest, pathOf, readRequestLine } from './request-line.js'

/**
 * The usual names of each field, in nginx, Caddy, Traefik, pino-http, Bunyan and others; the first counts.
 */
const NAMES = {
  time: [
    ...['time', 'timestamp', '@timestamp', 'ts', 'time_iso8601', 'msec', 'time_local', 'StartUTC', 'date'],
    ...['datetime'],
  ],
  address: [
    ...['ip', 'remote_addr', 'client_ip', 'remote_ip', 'clientIp', 'remoteAddress', 'remoteAddr', 'clientip'],
    ...['ClientHost', 'address', 'request.client_ip', 'request.remote_ip', 'req.ip', 'req.remoteAddress'],
    ...['client.ip', 'source.ip', 'httpRequest.remoteIp', 'remote_host', 'client'],
  ],
  user: [
    ...[
      'user',
      'remote_user',
      'user_id',
      'userId',
      'username',
      'ClientUsername',
      'request.user_id',
      'user.id',
    ],
    ...['user.name', 'req.user.id'],
  ],
  method: [
    ...['method', 'request_method', 'RequestMethod', 'request.method', 'req.method', 'http.request.method'],
    ...['httpRequest.requestMethod', 'verb'],
  ],
  path: [
    ...[
      'path',
      'url',
      'uri',
      'request_uri',
      'RequestPath',
      'originalUrl',
      'request.uri',
      'req.url',
      'url.path',
    ],
    ...['httpRequest.requestUrl'],
  ],
} as const

/**
 * Reads a line that is a JSON object. A line without a time or an address is unreadable; one without a
 * method and a path is a request all the same.
 */
export function readJsonLine(line: string, into: LoggedRequest): LineKind {
  const fields = parseObject(line)
  if (fields === undefined) return 'unreadable'
  const address = textOf(fields, NAMES.address)
  into.timeMs = parseJsonTime(firstOf(fields, NAMES.time))
  if (address === undefined || Number.isNaN(into.timeMs)) return 'unreadable'
  into.address = address
  const user = textOf(fields, NAMES.user)
  into.user = user === '' || user === '-' ? undefined : user
  into.fields = fields
  into.method = textOf(fields, NAMES.method) ?? ''
  into.path = pathOf(textOf(fields, NAMES.path) ?? '')
  const { request } = fields
  if (into.path === '' && typeof request === 'string')
    return readRequestLine(request, into) ? 'request' : 'other'
  return 'request'
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(
      HIGH_BYTES.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line,
    )
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined // reported as an unreadable line
  }
}

/** Lines are read as Latin-1, JSON is UTF-8. */
const HIGH_BYTES = /[\u0080-\u00ff]/

/** Returns the first of several fields that is a text or a number, as text. */
function textOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fieldOf(fields, name)
    if (typeof value === 'string') return value
    if (typeof value === 'number') return String(value)
  }
  return undefined
}

function firstOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  for (const name of names) {
    const value = fieldOf(fields, name)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** Returns a field by its name; one with dots may also be the path of a nested field. */
export function fieldOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name]
  const dotAt = name.indexOf('.')
  if (dotAt < 0) return undefined
  const outer = name.slice(0, dotAt)
  const inner = Object.hasOwn(fields, outer) ? fields[outer] : undefined
  if (typeof inner !== 'object' || inner === null) return undefined
  return fieldOf(inner as Record<string, unknown>, name.slice(dotAt + 1))
}
