import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Given = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

/**
 * Calls `listener` right before the headers of a response are sent, when status and headers are known and more can be set: also those that
 * are given to `writeHead`. (The package on-headers does so, too, but cannot be bundled for ES modules.)
 */
export function beforeHeaders(res: ServerResponse, listener: () => void): void {
  const writeHead = res.writeHead as (...args: unknown[]) => ServerResponse
  let isDue = true

  function writeHeadAfterListener(this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
    if (!isDue || res.headersSent) return writeHead.call(this, status, ...rest)
    isDue = false
    const [message] = rest.filter((arg) => typeof arg === 'string')
    const headers = rest.find((arg) => typeof arg === 'object' && arg !== null) as Given | undefined
    res.statusCode = status
    for (const [name, value] of pairsOf(headers)) res.appendHeader(name, value)
    listener()
    return message === undefined
      ? writeHead.call(this, res.statusCode)
      : writeHead.call(this, res.statusCode, message)
  }

  /** As `writeHead` takes them, what is given replaces what was set before; names in a list may come several times. */
  function pairsOf(headers: Given = {}): [string, string | readonly string[]][] {
    const pairs = Array.isArray(headers) ? pairsInList(headers) : Object.entries(headers)
    const there = pairs.filter(([, value]) => value !== undefined)
    for (const [name] of there) res.removeHeader(name)
    return there.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)])
  }

  res.writeHead = writeHeadAfterListener as typeof res.writeHead
}

/** A list is flat, name after value, or one of pairs. */
function pairsInList(list: readonly unknown[]): [string, unknown][] {
  if (Array.isArray(list[0])) return list as [string, unknown][]
  return Array.from({ length: list.length / 2 }, (_, i) => [String(list[2 * i]), list[2 * i + 1]])
}
