import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerOf } from '../keys/key.js'
import type { Decision } from '../limiter/decision.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { type DenialBody, type DenialFigures, type DenialReason, denialBody } from './denial-body.js'
import { denialHeaders, type HeaderList } from './headers.js'
import type { MiddlewareSettings, Next } from './options.js'

/** Sets headers, unless those of the response have been sent. It costs less to try than to look first. */
export function setUnlessSent(res: ServerResponse, headers: HeaderList): void {
  try {
    setAll(res, headers)
  } catch (error) {
    if (!res.headersSent) throw error
  }
}

/** Sets headers on a response. Reads `setHeader` once, since each read of a property is slow in Express. */
export function setAll(res: ServerResponse, headers: HeaderList): void {
  const { setHeader } = res
  for (let i = 0; i < headers.length; i += 2)
    setHeader.call(res, headers[i] as string, headers[i + 1] as string)
}

function send(res: ServerResponse, status: number, { contentType, text }: DenialBody): false {
  setAll(res, ['Content-Type', contentType, 'Content-Length', String(Buffer.byteLength(text))])
  res.statusCode = status
  res.end(text)
  return false
}

/** Answers a limited request by `onLimited`, or with `message`, or the default body. Returns false. */
export function respondLimited<Req extends IncomingMessage, Res extends ServerResponse>(
  { onLimited, statusCode, message }: MiddlewareSettings<Req, Res>,
  [req, res, next]: readonly [Req, Res, Next],
  decision: Decision,
  figures: DenialFigures,
): MaybePromise<false> {
  if (res.headersSent) return abort(res)
  setAll(res, denialHeaders(figures))
  if (onLimited !== undefined) return thenMaybe(onLimited(req, res, next, decision), () => false as const)
  const body = message ?? denialBody('limited', statusCode, figures, headerOf(req, 'accept'))
  return send(res, statusCode, body)
}

/** Refuses a request, or aborts its response where the application has sent the headers. Returns false. */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  reason: DenialReason,
  status: number,
  figures?: DenialFigures,
): false {
  if (res.headersSent) return abort(res)
  if (figures !== undefined) setAll(res, denialHeaders(figures))
  return send(res, status, denialBody(reason, status, figures, headerOf(req, 'accept')))
}

/** Node.js' HTTP/2 compatibility response, which has no `closed`, `destroyed` or socket. */
interface OnHttp2 {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void }
}

/** RFC 9113 §7. On NO_ERROR, which `res.destroy()` sends, clients take a partial body for a whole one. */
const INTERNAL_ERROR = 0x2

/**
 * Ends a refused request whose response headers the application has sent, so that neither the request hangs
 * nor a truncated body passes as a whole one. Leaves a response that has been ended alone. Returns false.
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

/** Returns whether nothing can be sent any more: the connection is closed, or the HTTP/2 stream is. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || res.destroyed || (res as OnHttp2).stream?.destroyed === true
}
