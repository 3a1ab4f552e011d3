import { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { batcher } from '../batcher.js'
import {
  type MemcachedClient,
  type MemcachedReply,
  type MemcachedServer,
  nameOf,
} from './memcached-client.js'
import { type Ask, encode } from './wire.js'

/** How long a reply is waited for: when a server closes a connection in good order, memjs 1.3.2 never calls back. */
const DEADLINE_MS = 1000
const MAX_ASKS = 512
/** Writes that are on their way at once: while one is answered, the next is gathered. */
const MAX_IN_FLIGHT = 4

/**
 * Asks the server where `home` lives, so that all items of one key are together, whatever they are called. Rejects with
 * `StoreError` where there is no reply. A reply that says no is one.
 */
export type Link = (home: string, ask: Ask) => Promise<MemcachedReply>

/** Gathers requests, and sends those for one server in one write. */
export function link(client: MemcachedClient): Link {
  const ask = batcher<readonly [home: string, ask: Ask], MemcachedReply>(
    async (asks, answer) => {
      const byServer = groupBy(asks.keys(), (i) => client.server((asks[i] as (typeof asks)[number])[0]))
      await Promise.all(
        Array.from(byServer, ([server, places]) =>
          exchange(
            client,
            server,
            places.map((i) => (asks[i] as (typeof asks)[number])[1]),
            (i, reply) => answer(places[i] as number, reply),
          ),
        ),
      )
    },
    { maxWeight: MAX_ASKS, maxInFlight: MAX_IN_FLIGHT },
  )
  return async (home, one) => (await ask([[home, one]]))[0] as MemcachedReply
}

/** Writes requests for one server, and waits until each is answered, or it is too late. */
function exchange(
  client: MemcachedClient,
  server: MemcachedServer | null | undefined,
  asks: readonly Ask[],
  answer: (i: number, reply: MemcachedReply | StoreError) => void,
): Promise<void> {
  if (!server) {
    asks.forEach((_, i) => {
      answer(i, new StoreError('memcached', 'no server can be had'))
    })
    return Promise.resolve()
  }
  return new Promise((resolve) => {
    const open = new Set(asks.keys())
    const finish = (i: number, reply: MemcachedReply | StoreError) => {
      if (!open.delete(i)) return
      answer(i, reply)
      if (open.size > 0) return
      clearTimeout(timer)
      resolve()
    }
    const fail = (i: number, message: string, cause?: unknown) =>
      finish(i, new StoreError('memcached', `${nameOf(server)}: ${message}`, { cause }))
    const timer = setTimeout(() => {
      for (const i of open) fail(i, `no reply within ${DEADLINE_MS} ms`)
    }, DEADLINE_MS)
    const seqs = asks.map((_, i) => {
      client.incrSeq()
      const seq = client.seq >>> 0
      server.onResponse(seq, (reply) => finish(i, reply))
      server.onError(seq, (cause) => fail(i, cause instanceof Error ? cause.message : String(cause), cause))
      return seq
    })
    server.write(encode(asks, seqs))
  })
}
