import type { ServerResponse } from 'node:http'
import { expressReader, type ReportedReader } from '../keys/source-address.js'
import type { Decision } from '../limiter/decision.js'
import { byteLengthOf } from '../platform.js'
import { warnOnce } from '../util/warn-once.js'
import { beforeHeaders } from './before-headers.js'
import { type FrameworkFixes, nodeFixes } from './framework-fixes.js'
import type { HeaderList } from './header-list.js'
import { isPatched, keepUncacheable } from './keep-uncacheable.js'
import { denialError, isPlaceholder, noOutcome } from './placeholder.js'
import { type RecordDecision, recordDecision } from './recorded-decision.js'
import { isClosed, type OnHttp2, onceClosed, onceEnded, onceFinished } from './response-end.js'

/** The whole response to a denied request. */
export interface DenialResponse {
  readonly status: number
  /** The headers for the decision, such as `Retry-After`. `contentHeaders` returns those for the body. */
  readonly headers: HeaderList
  readonly contentType: string
  readonly body: string
}

export function contentHeaders({ contentType, body }: DenialResponse): HeaderList {
  return ['Content-Type', contentType, 'Content-Length', String(byteLengthOf(body))]
}

/** Reads and writes the responses of a framework. Middleware for node:http uses `nodeWriter`. */
export interface ResponseWriter<Res> {
  readonly fixes: FrameworkFixes
  /** Creates what reads the address that the framework reports for a request. */
  readonly reportedReader: () => ReportedReader
  readonly recordDecision: RecordDecision
  /**
   * Returns the error for a request without a real response, since nothing will tell how it ends;
   * `undefined` if it has one. Absent if each request has one.
   */
  noOutcome?(res: Res, owner: string): TypeError | undefined
  /** Returns the response that callbacks get, once there is one. Absent if they get `res`. */
  responseOf?(res: Res): unknown
  /** Returns the names of the headers that were set on a response. */
  headerNames(res: Res): readonly string[]
  /** Returns a header that was set on a response, or `undefined` if there is none. */
  getHeader(res: Res, name: string): unknown
  removeHeader(res: Res, name: string): void
  /** Sets headers, in place of earlier ones with the same names, unless the headers have been sent. */
  setHeaders(res: Res, headers: HeaderList): void
  areHeadersSent(res: Res): boolean
  /**
   * Sets the status of a response that the application is about to send. Returns a function that restores the
   * earlier status.
   */
  presetStatus(res: Res, status: number): () => void
  /**
   * Sends a whole response, with the headers that were set before, or throws an error that the framework
   * responds to. `figures` are what the response shows of a decision.
   */
  send(res: Res, denial: DenialResponse, figures?: Pick<Decision, 'retryAfterMs' | 'parts'>): void
  /** Ends a response whose headers have been sent, so that no client takes it for a complete one. */
  abort(res: Res): void
  /**
   * Calls `listener` if a response ends before its headers are sent, as when the client hangs up. May call
   * it at once, and also at the end of other responses. Returns a function that removes the listener.
   */
  onceAborted(res: Res, listener: () => void): () => void
  /**
   * Calls `listener` with the status once a whole response has been sent, and never if the client hung up.
   * The listener may return a promise, which must not reject.
   */
  onceFinished(res: Res, listener: (status: number) => unknown): void
  /**
   * Calls `onEnded` once a response is over: sent, or ended by its handler. May call it several times. If
   * the client leaves first, calls `onLeft`, and calls `onEnded` when the handler ends. If the client has
   * left already, calls neither and returns false. The callbacks must not refer to `res`: otherwise they may
   * not be called for an abandoned response.
   */
  onceEnded(res: Res, onEnded: () => void, onLeft: () => void): boolean
}

/** Also reads and writes what a login needs. */
export interface LoginWriter<Res> extends ResponseWriter<Res> {
  /** Adds a header for each of these values, and keeps those with the same name. */
  appendHeader(res: Res, name: string, values: string[]): void
  /** Returns the status of a response, as set so far. */
  statusOf(res: Res): number
  /**
   * Calls `listener` right before the headers of a response are sent, when its status is known and headers
   * can still be set. It may return a promise, which must not reject.
   */
  beforeHeaders(res: Res, listener: () => unknown): void
  /** Calls `see` with each piece of the body as it is sent. Absent if that would need a copy. */
  seeBody?(res: Res, see: (piece: unknown) => void): void
}

/** Writes the responses of node:http, and so of Express and Connect. */
export const nodeWriter: LoginWriter<ServerResponse> = {
  fixes: nodeFixes({
    onDenied: '(req, res, next, decision)',
    count: '(req, res) => res.statusCode < 500',
    decision: 'req.rateLimit',
  }),
  reportedReader: expressReader,
  recordDecision,
  noOutcome: (res, owner) => (isPlaceholder(res) ? noOutcome(owner) : undefined),
  headerNames: (res) => (isPlaceholder(res) ? [] : res.getHeaderNames()),
  getHeader: (res, name) => res.getHeader?.(name),
  removeHeader: (res, name) => res.removeHeader?.(name),
  setHeaders: setUnlessSent,
  appendHeader: (res, name, values) => void res.appendHeader(name, values),
  areHeadersSent: (res) => res.headersSent,
  statusOf: (res) => res.statusCode,
  presetStatus(res, status) {
    const before = res.statusCode
    res.statusCode = status
    return () => {
      res.statusCode = before
    }
  },
  send(res, denial) {
    if (isPlaceholder(res)) throw denialError(denial.status, denial.headers)
    setAll(res, denial.headers)
    setAll(res, contentHeaders(denial))
    if (isPatched(res)) keepUncacheable(res)
    res.statusCode = denial.status
    if (res.req?.method === 'HEAD')
      res.end() // some servers throw for a body
    else res.end(denial.body)
  },
  abort,
  beforeHeaders,
  onceAborted: onceClosed,
  onceFinished: (res, listener) => onceFinished(res, () => listener(res.statusCode)),
  onceEnded,
}

/**
 * Returns the writer of a framework whose responses wrap those of node:http. `overrides` replaces methods.
 */
export function writerOver<Res>(
  fixes: FrameworkFixes,
  raw: (res: Res) => ServerResponse,
  overrides: Partial<ResponseWriter<Res>>,
): LoginWriter<Res> {
  return {
    fixes,
    reportedReader: expressReader,
    recordDecision,
    headerNames: (res) => nodeWriter.headerNames(raw(res)),
    getHeader: (res, name) => nodeWriter.getHeader(raw(res), name),
    removeHeader: (res, name) => nodeWriter.removeHeader(raw(res), name),
    setHeaders: (res, headers) => nodeWriter.setHeaders(raw(res), headers),
    appendHeader: (res, name, values) => nodeWriter.appendHeader(raw(res), name, values),
    areHeadersSent: (res) => nodeWriter.areHeadersSent(raw(res)),
    statusOf: (res) => nodeWriter.statusOf(raw(res)),
    presetStatus: (res, status) => nodeWriter.presetStatus(raw(res), status),
    send: (res, denial, figures) => nodeWriter.send(raw(res), denial, figures),
    abort: (res) => nodeWriter.abort(raw(res)),
    beforeHeaders: (res, listener) => nodeWriter.beforeHeaders(raw(res), listener),
    onceAborted: (res, listener) => nodeWriter.onceAborted(raw(res), listener),
    onceFinished: (res, listener) => nodeWriter.onceFinished(raw(res), listener),
    onceEnded: (res, onEnded, onLeft) => nodeWriter.onceEnded(raw(res), onEnded, onLeft),
    seeBody: (res, see) => seeBody(raw(res), see),
    ...overrides,
  }
}

/** Sets headers, if they can still be set, or at all. To try costs less than to look first. */
function setUnlessSent(res: ServerResponse, headers: HeaderList): void {
  try {
    setAll(res, headers)
  } catch (error) {
    if (!res.headersSent && !isPlaceholder(res)) throw error
  }
}

/** Sets headers on a response. Reads `setHeader` once, since each read of a property is slow in Express. */
export function setAll(res: ServerResponse, headers: HeaderList): void {
  const { setHeader } = res
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]
    const value = headers[i + 1]
    if (name !== undefined && value !== undefined) setHeader.call(res, name, value)
  }
}

/** RFC 9113 §7. On NO_ERROR, which `res.destroy()` sends, clients take a partial body for a complete one. */
const INTERNAL_ERROR = 0x2

/** Ends a response whose headers were sent. Leaves a response that has ended alone. */
function abort(res: ServerResponse & OnHttp2): void {
  if (res.writableEnded || isClosed(res)) return
  warnOnce(
    'HEADGATE_HEADERS_SENT',
    'headgate: a request was denied after its response headers had been sent, so its connection was closed. ' +
      'Mount the limiter before the handler that responds.',
  )
  const { stream } = res
  if (stream === undefined) res.destroy()
  else stream.close(INTERNAL_ERROR)
}

type Send = (this: ServerResponse, ...args: unknown[]) => unknown

/** Calls `see` with each piece of the body that is passed to `write` or `end`, before it is sent. */
export function seeBody(res: ServerResponse, see: (piece: unknown) => void): void {
  for (const name of ['write', 'end'] as const) {
    const send = res[name] as Send
    const sendSeen: Send = function (...args) {
      see(args[0])
      return send.apply(this, args)
    }
    Object.assign(res, { [name]: sendSeen })
  }
}
