import type { ServerResponse } from 'node:http'
import { isPlaceholder, noOutcome } from '../http/placeholder.js'
import { type LoginWriter, nodeWriter, type ResponseWriter } from '../http/response-writer.js'
import { callBefore } from '../util/call-before.js'
import { fieldsOf, hasMethods } from '../util/values.js'
import type { Upload } from './upload.js'
import { BEGINNINGS, watchersAtConnection } from './watched-connection.js'
import { beginAll, endAll, leaveAll, type Watchers } from './watchers.js'

/** A response writer that also knows when a response begins. */
export interface OverloadWriter<Res> extends ResponseWriter<Res> {
  /** Returns the status of a response, as set so far. */
  statusOf(res: Res): number
  /**
   * Returns the watchers of a request. They hear when the first byte of its response is sent, or just
   * before. They also hear when the client leaves, unless `isGone` says that it already has. After that, the
   * response begins once its handler ends it.
   */
  watchersOf(req: object, res: Res): WatchersOfRequest
  /**
   * Returns the request of a response, whose body may still be arriving; `undefined` for an upgrade. Absent
   * if the platform does not tell whether a body is arriving.
   */
  uploadOf?(res: Res): Upload | undefined
}

export interface WatchersOfRequest extends Watchers {
  readonly isGone?: boolean
  /**
   * Present if nothing tells whether there will be a response. The place of the request is then given back
   * after a minute, and this function is called.
   */
  readonly onNoResponse?: (() => void) | undefined
}

/**
 * Writes the responses of node:http, and knows when they begin. An upgrade to a WebSocket has a placeholder
 * in place of a response. It begins with the first bytes that are written to its socket, and is over when
 * the socket closes, or after a minute. Until an upgrade is handled, nobody reads its socket, so Node.js
 * does not see its client leave.
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

/**
 * The methods of an HTTP/2 stream that send headers. `writeHead` calls one of them, once the status is set.
 */
const STREAM_BEGINNINGS = ['respond', 'respondWithFD', 'respondWithFile'] as const

/** Returns watchers that hear from the methods of a response. */
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

/** The watchers of a request that cannot be watched at its connection. */
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

/**
 * Returns the watchers of an object. If there are none yet, makes them and calls `watch` to connect them.
 */
export function watchersIn(owner: object, watch: (watchers: KeptWatchers) => void): KeptWatchers {
  const earlier = kept.get(owner)
  if (earlier !== undefined) return earlier
  const watchers = new KeptWatchers()
  watch(watchers)
  kept.set(owner, watchers)
  return watchers
}

/** Makes `watchersIn` create new watchers for an object the next time. */
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
