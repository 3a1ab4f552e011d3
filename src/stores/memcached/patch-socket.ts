import type { Socket } from 'node:net'
import type { MemcachedServer } from './client.js'

/** The connections that are patched. */
const patched = new WeakSet<Socket>()

/**
 * Corrects how memjs 1.3.2 handles the end of a connection. It mistakes the end of a dropped connection for
 * that of the present one. It then never closes the present one, or fails its requests. And when a server
 * closes a connection cleanly, memjs never calls back.
 */
export function patchSocket(server: MemcachedServer, socket: Socket): void {
  if (patched.has(socket)) return
  patched.add(socket)
  for (const event of ['error', 'close']) {
    const listeners = socket.listeners(event)
    socket.removeAllListeners(event).on(event, (...args: unknown[]) => {
      const isGone = server._socket === undefined
      if (!isGone && server._socket !== socket) return
      if (event === 'close' && isGone) server.connected = false
      else for (const listener of listeners) Reflect.apply(listener, socket, args)
      if (event === 'close') server.error(new Error('the connection was closed'))
    })
  }
}
