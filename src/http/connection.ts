import type { ServerResponse } from 'node:http'
import { warnOnce } from '../util/warn-once.js'

/**
 * What Node.js' HTTP/2 compatibility response has in place of `closed`, `destroyed` and a socket of its own.
 */
interface OnHttp2 {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void }
}

/**
 * RFC 9113 §7. With NO_ERROR, which `res.destroy()` sends, clients take the part of a body for a whole one.
 */
const INTERNAL_ERROR = 0x2

/** Returns whether nothing can be sent any more: the connection is closed, or the HTTP/2 stream is. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || res.destroyed || (res as OnHttp2).stream?.destroyed === true
}

/**
 * Ends a refused request whose response headers somebody else has sent, so that neither the request hangs
 * nor a truncated body passes as a whole one: HTTP/1.1 closes the connection, HTTP/2 the stream. Leaves a
 * response that has been ended alone. Reports it once, as the process warning `HEADGATE_HEADERS_SENT`.
 * Always false: the request does not go on.
 */
export function abort(res: ServerResponse): false {
  if (res.writableEnded || isClosed(res)) return false
  warnOnce(
    'HEADGATE_HEADERS_SENT',
    'headgate: a request was refused after the headers of its response had been sent, so its connection was closed. ' +
      'Mount the limiter before whatever sends the response.',
  )
  const { stream } = res as OnHttp2
  if (stream === undefined) res.destroy()
  else stream.close(INTERNAL_ERROR)
  return false
}
