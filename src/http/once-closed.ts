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

/**
 * Calls `listener` once a response is over: sent, aborted, or left by the client, perhaps already. Returns
 * what removes the listener.
 *
 * A pipelined response waits without a socket for those before it (HTTP/1.1). Node.js 20 to 24 never emits
 * `close` on it if the connection is lost meanwhile, so that of the connection counts, too.
 */
export function onceClosed(res: ServerResponse, listener: () => void): () => void {
  const queuedOn: Socket | undefined = res.socket === null ? res.req?.socket : undefined
  if (isClosed(res) || queuedOn?.destroyed) {
    listener()
    return () => {}
  }
  const listeners: Listeners | undefined = queuedOn && listenersOf(queuedOn)
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

function listenersOf(socket: Socket): Listeners {
  const known = connections.get(socket)
  if (known !== undefined) return known
  const listeners: Listeners = new Set()
  connections.set(socket, listeners)
  socket.once('close', () => {
    for (const listener of listeners) listener()
  })
  return listeners
}
