import { listenersOf } from '../../http/response-end.js'
import { closeExchange, type Exchange } from './exchange.js'
import { socketOf } from './socket-of.js'

export function hasLeft({ signal, subject }: Exchange): boolean {
  return signal?.aborted === true || socketOf(subject.request)?.destroyed === true
}

/**
 * Calls `onLeft` when the connection of a request is closed, and then closes the exchange if it has a
 * response, for servers that pass on requests of node:http. Older versions (Node.js 20) never emit `close` on a
 * pipelined response that waits for those before it, so such a server neither aborts the request nor cancels
 * its response. Returns what removes the listener.
 */
export function onceDisconnected(exchange: Exchange, onLeft: () => void): () => void {
  const socket = socketOf(exchange.subject.request)
  if (socket === undefined) return () => {}
  const listeners = listenersOf(socket)
  const weak = new WeakRef(exchange) // a connection outlives the exchanges that are abandoned on it
  const leave = () => {
    onLeft()
    const left = weak.deref()
    if (left?.complete !== undefined) closeExchange(left)
  }
  listeners.add(leave)
  return () => listeners.delete(leave)
}
