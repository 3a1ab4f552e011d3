import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node.js' HTTP/2 compatibility response, which has no `closed`, `destroyed` or socket. */
export interface OnHttp2 {
  readonly stream?: { readonly destroyed: boolean; close(code: number): void }
}

/** Returns whether nothing can be sent any more: the connection is closed, or the HTTP/2 stream is. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || res.destroyed || (res as OnHttp2).stream?.destroyed === true
}

/** Returns the connection of a pipelined response that waits for those before it. */
function connectionQueuedOn(res: ServerResponse): Socket | undefined {
  return res.socket === null ? res.req?.socket : undefined
}

/** Returns whether a response is over: sent, aborted, or left by the client, also while it waits for others. */
export function isOver(res: ServerResponse): boolean {
  return isClosed(res) || connectionQueuedOn(res)?.destroyed === true
}

/**
 * Calls `listener` once a response is over: sent, aborted, or left by the client, perhaps already. Returns
 * what removes the listener.
 *
 * A pipelined response waits without a socket for those before it (HTTP/1.1). Node.js 20 to 24 never emits
 * `close` on it if the connection is lost meanwhile, so that of the connection also counts.
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

/** The listeners of each connection: many of its own would cause a warning of Node.js. */
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
