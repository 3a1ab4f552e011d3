import { weakMemo } from '../../util/memo.js'
import type { Store } from '../store.js'
import { type AnyRedisClient, transportOf } from './client.js'
import { hintFor } from './hints.js'
import { serversOver } from './servers.js'
import { storeOver } from './store-over.js'

/**
 * Creates a store that keeps states in Redis or Valkey, shared by any number of processes.
 *
 * - **Atomicity.** A Lua script decides all operations of one shape that arrive together.
 * - **Resends.** A call is sent again only if it certainly did not run: if the server does not know the
 *   script (`NOSCRIPT`), or if a node of a Cluster rejects it because a slot has moved.
 * - **Cluster.** A script sees the keys of one slot. A charge whose keys are in several slots is decided
 *   slot by slot, and refunded if a later slot denies. Until the refund, other charges may be denied for
 *   lack of those units. No limit is ever exceeded. If a client for one server reaches a Cluster, headgate
 *   warns, and sends operations slot by slot.
 * - **Clock.** The server's `TIME`.
 * - **Expiry.** States expire when they equal fresh ones, or up to a slice or a sixteenth of a bucket's span
 *   later.
 * - **Client.** A `Redis` or `Cluster` of ioredis 5 or 6 or of iovalkey, or what `createClient`,
 *   `createSentinel` or `createCluster` of redis 5 or 6 (node-redis) returns. Also a client of Valkey GLIDE
 *   2, or Bun's `RedisClient`. The store never closes it. It respects the client's `keyPrefix`, but no other
 *   options for commands, such as a type mapping.
 * - **Connection.** Operations wait for the client's first connection. If it is lost later, they fail at
 *   once with a `StoreError`, instead of waiting in the client's queue.
 * - **node-redis.** Call `connect()`. Before that, operations fail. Listen for `error`. Without a listener,
 *   a lost connection ends the process, and headgate warns about that.
 *
 * Throws a `TypeError` for any other client.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { rateLimit } from 'headgate'
 * import { redisStore } from 'headgate/redis'
 *
 * // ioredis would send charges again after a reconnect, and so count them twice.
 * const redis = new Redis({ autoResendUnfulfilledCommands: false })
 * redis.on('error', ({ message }) => console.error('Redis:', message))
 * const store = redisStore(redis)
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * ```
 */
export function redisStore(client: AnyRedisClient): Store {
  return storeOver('redisStore', serversOf(client))
}

/** Stores that share a client also share their knowledge of its servers. */
const serversOf = weakMemo((client: AnyRedisClient) =>
  serversOver('redis', client, transportOf(client), hintFor),
)
