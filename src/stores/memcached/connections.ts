import type { Socket } from 'node:net'
import type { MemcachedServer } from './client.js'

const counts = new WeakMap<MemcachedServer, { made: number }>()
const apart = new WeakSet<Socket>()

/**
 * The number of a server's present connection; `undefined` while there is none. A server that was restarted has another one, and counts
 * its tokens from 1 again, so that a token from before may be that of another value now.
 */
export function connectionOf(server: MemcachedServer | null | undefined): number | undefined {
  return server?.connected ? countOf(server).made : undefined
}

/** The number of the connection over which goes what is written now: the present one, or else the next one. */
export function connectionFor(server: MemcachedServer): number {
  const { made } = countOf(server)
  return server.connected ? made : made + 1
}

function countOf(server: MemcachedServer): { made: number } {
  const known = counts.get(server)
  if (known !== undefined) return known
  const count = { made: 0 }
  server.on('authenticated', () => {
    count.made++
    server.responseBuffer = Buffer.alloc(0) // memjs 1.3.2 reads on behind half a reply of the lost connection otherwise
  })
  counts.set(server, count)
  return count
}

/**
 * Gives the connection over which was written last. From now on its end is its own: memjs 1.3.2 takes the end of one that it gave up
 * for the end of the one that it has now, which is left open for good then, or whose requests fail.
 */
export function socketOf(server: MemcachedServer): Socket | undefined {
  const socket = server._socket
  if (socket === undefined || apart.has(socket)) return socket
  apart.add(socket)
  for (const event of ['error', 'close']) {
    const listeners = socket.listeners(event)
    socket.removeAllListeners(event).on(event, (...args: unknown[]) => {
      const present = server._socket
      if (event === 'close' && present === undefined) server.connected = false
      else if (present === undefined || present === socket)
        for (const listener of listeners) Reflect.apply(listener, socket, args)
    })
  }
  return socket
}

/** Lets go of a connection that memjs has given up: it only ends its own half of it, and a server that hangs never ends the other. */
export function letGo(server: MemcachedServer, socket: Socket | undefined): void {
  if (server._socket !== socket) socket?.destroy()
}
