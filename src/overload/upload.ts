import type { IncomingMessage } from 'node:http'

/**
 * A request of node:http, or of Node.js' HTTP/2 compatibility API. Middleware may give the first a stream
 * also.
 */
export interface Upload extends IncomingMessage {
  readonly stream?: {
    readonly endAfterHeaders?: boolean
    readonly state?: { readonly remoteClose?: number }
  }
}

/** Returns whether a request has a body. Reads only what Node.js has read by then. */
export function hasBody({ headers, stream }: Upload): boolean {
  if (stream?.endAfterHeaders !== undefined) return !stream.endAfterHeaders
  return headers?.['transfer-encoding'] !== undefined || Number(headers?.['content-length'] ?? 0) > 0
}

/**
 * Returns whether the body of a request has not arrived completely. Over HTTP/2, `complete` is false until
 * somebody has read the body, so its stream is asked.
 */
export function isArriving({ complete, stream }: Upload): boolean {
  return stream?.endAfterHeaders === undefined ? complete === false : stream.state?.remoteClose === 0
}

/**
 * Returns whether somebody reads the body of a request, and has read all that has arrived. If not, its
 * handler is busy with something other than the wait for the rest.
 */
export function isAwaited({ readableFlowing, readableLength }: Upload): boolean {
  return readableFlowing !== null && readableLength === 0
}
