import type { MemcachedServer } from './memcached-client.js'

const counts = new WeakMap<MemcachedServer, { made: number }>()

/**
 * The number of a server's present connection; `undefined` while there is none. A server that was restarted has another one, and counts
 * its tokens from 1 again, so that a token from before may be that of another value now.
 */
export function connectionOf(server: MemcachedServer | null | undefined): number | undefined {
  if (!server) return undefined
  let count = counts.get(server)
  if (count === undefined) {
    const fresh = { made: 0 }
    server.on('authenticated', () => {
      fresh.made++
      server.responseBuffer = Buffer.alloc(0) // memjs 1.3.2 reads on behind half a reply of the lost connection otherwise
    })
    counts.set(server, fresh)
    count = fresh
  }
  return server.connected ? count.made : undefined
}
