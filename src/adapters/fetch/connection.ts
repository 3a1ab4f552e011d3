import type { Socket } from 'node:net'
import { listenersOf } from '../../http/response-end.js'
import { fieldsOf } from '../../util/values.js'
import { closeExchange, type Exchange } from './exchange.js'

export function hasLeft({ signal, subject }: Exchange): boolean {
  return signal?.aborted === true || socketOf(subject.request)?.destroyed === true
}

/**
 * Calls `onLeft` when the connection of a request is closed, and then closes the exchange if it has a
 * response, for servers that pass on requests of node:http. Node.js 20 to 24 never emits `close` on a
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

/** Returns the connection of a request. @hono/node-server keeps that of node:http under a symbol. */
function socketOf(request: Request): Socket | undefined {
  for (const symbol of Object.getOwnPropertySymbols(request)) {
    const { socket } = fieldsOf(Reflect.get(request, symbol))
    if (isSocket(socket)) return socket
  }
  return undefined
}

function isSocket(value: unknown): value is Socket {
  const { destroyed, once } = fieldsOf(value)
  return typeof destroyed === 'boolean' && typeof once === 'function'
}
