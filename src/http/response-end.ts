import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { callBefore } from '../util/call-before.js'

/** Node.js' HTTP/2 compatibility response, which has no `closed`, `destroyed` or socket. */
export interface OnHttp2 {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void }
}

/** Returns whether nothing can be sent any more, because the connection or the HTTP/2 stream is closed. */
export function isClosed(res: ServerResponse & OnHttp2): boolean {
  return res.closed || res.destroyed || res.stream?.destroyed === true
}

/** Returns the connection of a pipelined response that waits for those before it. */
function connectionQueuedOn(res: ServerResponse): Socket | undefined {
  return res.socket === null ? res.req?.socket : undefined
}

/**
 * Returns whether a response is over: it was sent or aborted, or the client has left, even while the
 * response waits for others.
 */
export function isOver(res: ServerResponse): boolean {
  return isClosed(res) || connectionQueuedOn(res)?.destroyed === true
}

/**
 * Calls `listener` once a response is over: it was sent or aborted, or the client has left. If it is over
 * already, calls `listener` at once. Returns a function that removes the listener.
 *
 * A pipelined response waits without a socket for those before it (HTTP/1.1). If the connection is lost
 * meanwhile, older versions (Node.js 20) never emit `close` on the response. So this also listens to the
 * connection.
 */
export function onceClosed(res: ServerResponse, listener: () => void): () => void {
  if (isOver(res)) {
    listener()
    return () => {}
  }
  const queuedOn = connectionQueuedOn(res)
  const listeners = queuedOn && listenersOf(queuedOn)
  const remove = () => {
    listeners?.delete(callOnce)
    res.off('close', callOnce)
  }
  const callOnce = () => {
    remove()
    listener()
  }
  listeners?.add(callOnce)
  res.once('close', callOnce)
  return remove
}

/**
 * Calls `listener` once a whole response has been sent, and never if the client hung up. Serverless hosts
 * emit `finish` inside `end()`, before `writableEnded` is true. The HTTP/2 compatibility response of Node.js
 * emits it on every close, with status 200 if nothing was sent.
 */
export function onceFinished(res: ServerResponse & OnHttp2, listener: () => unknown): void {
  res.once('finish', () => (res.stream === undefined || res.writableEnded) && listener())
}

type Listeners = Set<() => void>

/** The listeners of each connection. Node.js would warn of many listeners on one socket. */
const connections = new WeakMap<Socket, Listeners>()

/** Returns the functions that are called when a connection is closed. */
export function listenersOf(socket: Socket): Listeners {
  const existing = connections.get(socket)
  if (existing !== undefined) return existing
  const listeners: Listeners = new Set()
  connections.set(socket, listeners)
  socket.once('close', () => {
    for (const listener of listeners) listener()
  })
  return listeners
}

/**
 * Calls `onEnded` once a response is over: it was sent, or its handler ended or destroyed it. If the client
 * leaves first, calls `onLeft`, and calls `onEnded` only when the handler ends the response. If the response
 * is over already, calls neither and returns false.
 *
 * Methods of the response are replaced only once the client has left. The exception is `destroy` over
 * HTTP/2, which is replaced from the start: nothing else tells whether the handler or the client closed a
 * stream.
 */
export function onceEnded(res: ServerResponse & OnHttp2, onEnded: () => void, onLeft: () => void): boolean {
  if (isOver(res)) return false
  const isHttp2 = res.stream !== undefined
  if (isHttp2) callBefore(res, ['destroy'], onEnded)
  onceFinished(res, onEnded)
  onceClosed(res, () => {
    if (isEndedByHandler(res)) {
      onEnded()
      return
    }
    onLeft()
    callBefore(res, isHttp2 ? ['end'] : ['end', 'destroy'], onEnded)
  })
  return true
}

/** Returns whether a response of HTTP/1.1 is over because its handler ended or destroyed it. */
export function isEndedByHandler(res: ServerResponse): boolean {
  return res.writableEnded || isDestroyed(res)
}

/**
 * Returns whether the handler destroyed a response of HTTP/1.1. Its `errored` is then the error, or
 * `undefined`. If the connection was lost instead, `errored` stays null. The exception is a pipelined
 * response that still waits: newer versions (Node.js 24.22 and 26.12) destroy it with the error ECONNRESET.
 */
function isDestroyed(res: ServerResponse): boolean {
  if (!('errored' in res) || res.errored === null) return false
  const isLost = connectionQueuedOn(res)?.destroyed === true
  return !(isLost && (res.errored as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET')
}
