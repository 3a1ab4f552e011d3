import type { MemcachedServer } from './memcached-client.js'

const closing = new WeakSet<MemcachedServer>()
const counts = new WeakMap<MemcachedServer, { made: number }>()

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

/** Drops the present connection, and tells all that wait for it why. */
export function drop(server: MemcachedServer, reason: Error): void {
  closing.add(server)
  setImmediate(() => closing.delete(server))
  server.error(reason)
}

/** Runs at once, as a rule; or when a connection that was dropped is closed, since memjs 1.3.2 then forgets one that was made meanwhile. */
export function whenClosed(server: MemcachedServer, run: () => void): void {
  if (closing.has(server)) setImmediate(run)
  else run()
}
