import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isEndedByHandler } from '../http/response-end.js'
import { callBefore } from '../util/call-before.js'
import { beginAll, endAll, leaveAll, type Watcher, type Watchers } from './watchers.js'

/**
 * The methods by which a response begins. `writeHead` is not one: Node.js holds the headers back until the
 * first piece of the body, for which the handler may still have to wait.
 */
export const BEGINNINGS = ['write', 'end', 'flushHeaders'] as const

/** How Node.js begins an interim response, such as 103 Early Hints. */
const INTERIM = 'HTTP/1.1 1'

/** The connection of an HTTP/1.1 server. Node.js sets which response may write to it. */
type HttpSocket = Socket & { readonly _httpMessage?: unknown }

/**
 * The watchers of the response that a connection sends. The guard detects its first byte at the connection,
 * because changing the response is slow: Express gives each response its own hidden class, which V8 then has
 * to rebuild for every new property. A connection lasts for many responses, and is changed once.
 */
class WatchedConnection implements Watchers {
  last: Watcher | undefined
  #response: ServerResponse | undefined

  /** Watches another response. If the previous one has not begun, it counts as left. */
  turnTo(response: ServerResponse): void {
    if (this.#response === response) return
    if (this.last !== undefined) this.leave()
    this.#response = response
  }

  /** Called before something is written. */
  write(chunk: unknown): void {
    if (typeof chunk === 'string' && chunk.startsWith(INTERIM)) return
    const watchers = { last: this.last }
    this.#forget()
    beginAll(watchers)
  }

  /**
   * Called when the response is over or its client has left. Only here may the response be changed, so few
   * are.
   */
  leave(): void {
    const response = this.#response
    if (response === undefined) return
    const watchers = { last: this.last }
    this.#forget()
    if (isEndedByHandler(response)) {
      endAll(watchers)
      return
    }
    leaveAll(watchers)
    callBefore(response, [...BEGINNINGS, 'destroy'], () => beginAll(watchers))
  }

  /** An idle connection would otherwise keep its last request in memory. */
  #forget(): void {
    this.last = undefined
    this.#response = undefined
  }
}

const connections = new WeakMap<Socket, WatchedConnection>()

/**
 * Returns the watchers of a response that is the next to be sent on its connection. Returns `undefined` if
 * the response has to wait for others, has sent its headers, is over, or was not made by the server of
 * node:http.
 */
export function watchersAtConnection(res: ServerResponse): Watchers | undefined {
  const socket = res.socket as HttpSocket | null | undefined
  if (socket?._httpMessage !== res || socket.destroyed || res.headersSent) return undefined
  const connection = connections.get(socket) ?? watchConnection(socket)
  connection.turnTo(res)
  return connection
}

function watchConnection(socket: Socket): WatchedConnection {
  const connection = new WatchedConnection()
  connections.set(socket, connection)
  const write = socket.write as (chunk: unknown, encoding: unknown, callback: unknown) => boolean

  function writeAfterWatchers(this: Socket, chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (connection.last !== undefined) connection.write(chunk)
    return write.call(this, chunk, encoding, callback)
  }

  socket.write = writeAfterWatchers as typeof socket.write
  socket.once('close', () => connection.leave())
  return connection
}
