import type { ServerResponse } from 'node:http'
import { isPlaceholder, noOutcome } from '../http/placeholder.js'
import { type LoginWriter, nodeWriter, type ResponseWriter } from '../http/response-writer.js'
import { callBefore } from '../util/call-before.js'
import { fieldsOf, hasMethods } from '../util/values.js'
import type { Upload } from './upload.js'
import { BEGINNINGS, watchersAtConnection } from './watched-connection.js'
import { beginAll, endAll, leaveAll, type Watchers } from './watchers.js'

/** Also knows when a response begins. */
export interface OverloadWriter<Res> extends ResponseWriter<Res> {
  /** Returns the status of a response, as set so far. */
  statusOf(res: Res): number
  /**
   * Returns the watchers of a request. They are told when the first byte of its response is sent, or just
   * before, and once its client has left, unless `isGone` says that it has. After it has left, the response
   * begins once its handler ends it.
   */
  watchersOf(req: object, res: Res): WatchersOfRequest
  /**
   * Returns the request of a response, whose body may still arrive; `undefined` for an upgrade. Absent if the
   * platform does not tell.
   */
  uploadOf?(res: Res): Upload | undefined
}

export interface WatchersOfRequest extends Watchers {
  readonly isGone?: boolean
  /**
   * Present where nothing tells whether there will be a response, so that the place of a request is given back
   * after a minute. Called then.
   */
  readonly onNoResponse?: (() => void) | undefined
}

/**
 * Writes the responses of node:http, and knows when they begin. Upgrades to a WebSocket have no response, but a
 * placeholder: they begin with the first bytes of their socket, and are over when it closes, or after a minute.
 * If an upgrade gets no response, its socket is not read, so Node.js does not see its client leave.
 */
export const nodeOverloadWriter: OverloadWriter<ServerResponse> = {
  ...nodeWriter,
  watchersOf: (req, res) =>
    watchersAtConnection(res) ?? (isPlaceholder(res) ? watchersAtSocket(req) : watchersAtResponse(req, res)),
  uploadOf: ({ req }) => req,
}

/** Returns the writer of a framework whose responses wrap those of node:http. */
export function overloadWriterOver<Res>(
  writer: LoginWriter<Res>,
  raw: (res: Res) => ServerResponse,
): OverloadWriter<Res> {
  return {
    ...writer,
    watchersOf(req, res) {
      const response = raw(res)
      return watchersAtConnection(response) ?? watchersAtResponse(req, response)
    },
    uploadOf: (res) => raw(res).req,
  }
}

/** The methods of an HTTP/2 stream that send headers. `writeHead` calls one of them, once the status is set. */
const STREAM_BEGINNINGS = ['respond', 'respondWithFD', 'respondWithFile'] as const

/** Has watchers told by the methods of a response. */
function watchersAtResponse(req: object, res: ServerResponse): WatchersOfRequest {
  return watchersIn(req, (watchers) => {
    const begin = () => beginAll(watchers)
    const { stream } = fieldsOf(res)
    if (hasMethods(stream, ...STREAM_BEGINNINGS)) callBefore(stream as object, STREAM_BEGINNINGS, begin)
    callBefore(res, BEGINNINGS, begin)
    callBefore(res, ['destroy'], () => endAll(watchers))
    nodeWriter.onceAborted(res, () => watchers.leave())
  })
}

function watchersAtSocket(req: object): WatchersOfRequest {
  return watchersIn(req, (watchers) => {
    const socket = socketOf(req)
    watchers.onNoResponse = () => undefined
    callBefore(socket, ['write', 'end'], () => beginAll(watchers))
    onceSocketClosed(socket, () => {
      watchers.leave()
      beginAll(watchers)
    })
  })
}

/** Watchers of a request that is not seen at its connection. */
class KeptWatchers implements WatchersOfRequest {
  last: Watchers['last']
  isGone = false
  onNoResponse: (() => void) | undefined = undefined

  leave(): void {
    this.isGone = true
    leaveAll(this)
  }
}

const kept = new WeakMap<object, KeptWatchers>()

/** Returns the watchers of an object. If there are none yet, calls `watch`, which has them told. */
export function watchersIn(owner: object, watch: (watchers: KeptWatchers) => void): KeptWatchers {
  const earlier = kept.get(owner)
  if (earlier !== undefined) return earlier
  const watchers = new KeptWatchers()
  watch(watchers)
  kept.set(owner, watchers)
  return watchers
}

/** Lets an object have other watchers the next time. */
export function forgetWatchers(owner: object): void {
  kept.delete(owner)
}

interface Closing {
  readonly destroyed?: boolean
  once(event: 'close', listener: () => void): unknown
}

/** Returns the socket of a request. Throws a `TypeError` if nothing tells when the request is over. */
function socketOf(req: object): Closing {
  const { socket } = fieldsOf(req)
  if (hasMethods(socket, 'once', 'write', 'end')) return socket as Closing
  throw noOutcome('overloadGuard', 'a place needs')
}

function onceSocketClosed(socket: Closing, listener: () => void): void {
  if (socket.destroyed) listener()
  else socket.once('close', listener)
}
