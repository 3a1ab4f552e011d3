import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node.js' HTTP/2 compatibility response, which has no `closed`, `destroyed` or socket. */
export interface OnHttp2 {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void }
}

/** Returns whether nothing can be sent any more, because the connection or the HTTP/2 stream is closed. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || res.destroyed || (res as OnHttp2).stream?.destroyed === true
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
 * meanwhile, Node.js 20 to 24 never emits `close` on the response. So this also listens to the connection.
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
