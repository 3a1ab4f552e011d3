import type { ServerResponse } from 'node:http'
import { eachHeader, type HeaderList } from '../../http/header-list.js'
import { keepUncacheable } from '../../http/keep-uncacheable.js'
import { recordDecision } from '../../http/recorded-decision.js'
import { type DenialResponse, type LoginWriter, nodeWriter, writerOver } from '../../http/response-writer.js'
import { fieldsOf } from '../../util/values.js'
import { RateLimitException } from './exception.js'

/** A reply of Fastify. Headers and bodies go through it, so that its `onSend` hooks see them. */
interface Reply {
  readonly raw: ServerResponse
  getHeaders(): object
  getHeader(name: string): unknown
  header(name: string, value: string): unknown
  removeHeader(name: string): unknown
  code(status: number): Reply
  serializer(serialize: (body: string) => string): Reply
  send(body: string): unknown
}

/** A response of Express, or a reply of Fastify. */
export type PlatformResponse = ServerResponse | Reply

/** The response to a request, or `undefined` if there is none, as for a WebSocket message. */
export type NestResponse = PlatformResponse | undefined

export function asResponse(value: unknown): NestResponse {
  return isPlatformResponse(value) ? value : undefined
}

function isPlatformResponse(value: unknown): value is PlatformResponse {
  const { raw } = fieldsOf(value)
  return typeof fieldsOf(raw ?? value).setHeader === 'function'
}

/** The responses of both platforms. A denial is thrown, so that it passes through the exception filters. */
export const platformWriter: LoginWriter<PlatformResponse> = writerOver(nodeWriter.fixes, rawOf, {
  headerNames: (res) => Object.keys(res.getHeaders()), // of a reply also those of its raw response
  getHeader: (res, name) => res.getHeader(name),
  removeHeader(res, name) {
    res.removeHeader(name)
    if (isReply(res)) res.raw.removeHeader(name)
  },
  setHeaders,
  send(res, denial, figures) {
    setHeaders(res, denial.headers)
    throw new RateLimitException(denial, figures)
  },
})

/** Also takes calls that have no response. Such a call counts as over, so nothing is held until its end. */
export const nestWriter: LoginWriter<NestResponse> = {
  fixes: nodeWriter.fixes,
  reportedReader: nodeWriter.reportedReader,
  recordDecision,
  headerNames: (res) => (res ? platformWriter.headerNames(res) : []),
  getHeader: (res, name) => res && platformWriter.getHeader(res, name),
  removeHeader: (res, name) => res && platformWriter.removeHeader(res, name),
  setHeaders: (res, headers) => res && platformWriter.setHeaders(res, headers),
  appendHeader: (res, name, values) => res && platformWriter.appendHeader(res, name, values),
  areHeadersSent: (res) => res !== undefined && platformWriter.areHeadersSent(res),
  statusOf: (res) => (res === undefined ? 200 : platformWriter.statusOf(res)),
  presetStatus: (res, status) => (res ? platformWriter.presetStatus(res, status) : () => {}),
  send(res, denial, figures) {
    if (res === undefined) throw new RateLimitException(denial, figures)
    platformWriter.send(res, denial, figures)
  },
  abort: (res) => res && platformWriter.abort(res),
  beforeHeaders: (res, listener) => res && platformWriter.beforeHeaders(res, listener),
  onceAborted: (res, listener) => (res ? platformWriter.onceAborted(res, listener) : () => {}),
  onceFinished: (res, listener) => res && platformWriter.onceFinished(res, listener),
  onceEnded(res, onEnded, onLeft) {
    if (res !== undefined) return platformWriter.onceEnded(res, onEnded, onLeft)
    onEnded()
    return true
  },
}

/** Sends the response in an exception, unless the headers of another one have been sent. */
export function sendDenialResponse(res: PlatformResponse, { denial }: RateLimitException): void {
  if (platformWriter.areHeadersSent(res)) return
  if (isReply(res)) sendReply(res, denial)
  else nodeWriter.send(res, denial)
}

function sendReply(reply: Reply, { status, headers, contentType, body }: DenialResponse): void {
  setHeaders(reply, [...headers, 'Content-Type', contentType])
  keepUncacheable(reply.raw)
  const isHead = reply.raw.req?.method === 'HEAD' // some servers throw for a body
  if (isHead) reply.header('Content-Length', String(Buffer.byteLength(body)))
  const coded = reply.code(status).serializer(String) // without it Fastify adds a charset to problem+json
  coded.send(isHead ? '' : body)
}

function setHeaders(res: PlatformResponse, headers: HeaderList): void {
  if (!isReply(res)) {
    nodeWriter.setHeaders(res, headers)
    return
  }
  eachHeader(headers, (name, value) => res.header(name, value))
}

function isReply(res: PlatformResponse): res is Reply {
  return 'raw' in res
}

export function rawOf(res: PlatformResponse): ServerResponse {
  return isReply(res) ? res.raw : res
}
