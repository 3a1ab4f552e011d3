import type { ServerResponse } from 'node:http'
import { isObject } from '../util/values.js'

/**
 * Calls `listener` right before the headers of a response are sent. By then, the status and the headers are
 * set, including those that were passed to `writeHead`, and more can be set. (The package on-headers does
 * the same, but cannot be bundled for ES modules.)
 */
export function beforeHeaders(res: ServerResponse, listener: () => unknown): void {
  const writeHead = res.writeHead as (...args: unknown[]) => ServerResponse
  let isDue = true

  function writeHeadAfterListener(this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
    if (!isDue || res.headersSent) return writeHead.call(this, status, ...rest)
    if (res.statusCode !== status) res.statusCode = status
    const message = rest.filter((arg) => typeof arg === 'string').slice(0, 1)
    const headers = rest.find(isObject)
    if (headers !== undefined) setHeaders(res, headers)
    isDue = false
    listener()
    return writeHead.call(this, res.statusCode, ...message)
  }

  res.writeHead = writeHeadAfterListener as typeof res.writeHead
}

/**
 * Sets headers as `writeHead` does. They replace earlier ones. They may be a list, flat or of pairs, which
 * may contain a name several times.
 */
function setHeaders(res: ServerResponse, headers: object): void {
  const pairs = Array.isArray(headers) ? pairsIn(headers) : Object.entries(headers)
  for (const [name] of pairs) res.removeHeader(name)
  for (const [name, value] of pairs) res.appendHeader(name, value as string | string[])
}

function pairsIn(list: readonly unknown[]): [string, unknown][] {
  if (Array.isArray(list[0])) return list as [string, unknown][]
  return Array.from({ length: list.length / 2 }, (_, i) => [String(list[2 * i]), list[2 * i + 1]])
}
