import type { ServerResponse } from 'node:http'
import { type HeaderList, nodeServer, type Refusal, type Server, serverOver } from '../../http/server.js'
import { RateLimitException } from './exception.js'

/** A reply of Fastify, through which headers and bodies go, so that its `onSend` hooks see them. */
interface Reply {
  readonly raw: ServerResponse
  getHeader(name: string): unknown
  header(name: string, value: string): unknown
  removeHeader(name: string): unknown
  code(status: number): Reply
  serializer(serialize: (body: string) => string): Reply
  send(body: string): unknown
}

export type PlatformResponse = ServerResponse | Reply

/** The response to a request; `undefined` if there is none, as to a WebSocket message. */
export type NestResponse = PlatformResponse | undefined

export function asResponse(value: unknown): NestResponse {
  const raw: unknown = (value as Partial<Reply> | null | undefined)?.raw ?? value
  const isResponse = typeof (raw as Partial<ServerResponse> | undefined)?.setHeader === 'function'
  return isResponse ? (value as PlatformResponse) : undefined
}

/** The responses of both platforms. A refusal is thrown, so that it passes through the exception filters. */
export const platformServer: Server<PlatformResponse> = serverOver(rawOf, {
  getHeader: (res, name) => res.getHeader(name),
  removeHeader: (res, name) => void res.removeHeader(name),
  setHeaders,
  send(res, refusal, figures) {
    setHeaders(res, refusal.headers)
    throw new RateLimitException(refusal, figures)
  },
})

/** The same, and what there is no response to: that counts as over, so nothing is held until its end. */
export const nestServer: Server<NestResponse> = {
  getHeader: (res, name) => res && platformServer.getHeader(res, name),
  removeHeader: (res, name) => res && platformServer.removeHeader(res, name),
  setHeaders: (res, headers) => res && platformServer.setHeaders(res, headers),
  appendHeader: (res, name, values) => res && platformServer.appendHeader(res, name, values),
  areHeadersSent: (res) => res !== undefined && platformServer.areHeadersSent(res),
  statusOf: (res) => (res === undefined ? 200 : platformServer.statusOf(res)),
  send(res, refusal, figures) {
    if (res === undefined) throw new RateLimitException(refusal, figures)
    platformServer.send(res, refusal, figures)
  },
  abort: (res) => res && platformServer.abort(res),
  beforeHeaders: (res, listener) => res && platformServer.beforeHeaders(res, listener),
  onceAborted: (res, listener) => (res ? platformServer.onceAborted(res, listener) : () => {}),
  onceFinished: (res, listener) => res && platformServer.onceFinished(res, listener),
  onceEnded(res, onEnded, onLeft) {
    if (res !== undefined) return platformServer.onceEnded(res, onEnded, onLeft)
    onEnded()
    return true
  },
}

/** Sends the refusal of an exception, unless there has been a response. */
export function sendRefusal(res: PlatformResponse, { refusal }: RateLimitException): void {
  if (platformServer.areHeadersSent(res)) return
  if (isReply(res)) sendReply(res, refusal)
  else nodeServer.send(res, refusal)
}

function sendReply(reply: Reply, { status, headers, contentType, body }: Refusal): void {
  setHeaders(reply, [...headers, 'Content-Type', contentType])
  reply.code(status).serializer(String).send(body) // without a serializer Fastify adds a charset to problem+json
}

function setHeaders(res: PlatformResponse, headers: HeaderList): void {
  if (!isReply(res)) {
    nodeServer.setHeaders(res, headers)
    return
  }
  for (let i = 0; i < headers.length; i += 2) res.header(headers[i] as string, headers[i + 1] as string)
}

function isReply(res: PlatformResponse): res is Reply {
  return 'raw' in res
}

function rawOf(res: PlatformResponse): ServerResponse {
  return isReply(res) ? res.raw : res
}
