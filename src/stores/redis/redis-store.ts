import { applyBy } from '../shared/run-operations.js'
import { trusted } from '../shared/trusted.js'
import type { Batching, Store } from '../store.js'
import { type AnyRedisClient, transportOf } from './client.js'
import { redisDocuments } from './documents.js'
import { runOnCluster, runOnServer, serverBatching } from './run-on-server.js'

/**
 * 256 keys spread the cost of a call, and do not keep the server's other clients waiting. The server decides
 * one batch while the next one travels, in order, over one connection. With a distant server, more batches
 * travel: none delays the next one for longer than the stall timeout.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 10 }

/**
 * Creates a store that keeps states in Redis or Valkey, shared by any number of processes.
 *
 * - **Atomicity.** A Lua script decides all operations of one shape that arrive together. A call is sent
 *   again only if it certainly did not run. That is so if the server does not know the script
 *   (`NOSCRIPT`), or if a node of a Cluster rejects it because a slot has moved.
 * - **Cluster.** A script sees the keys of one slot. A charge whose keys are in several slots is decided
 *   slot by slot, and refunded if a later slot denies. Until the refund, others may be denied for those
 *   units. No limit admits more than it says. If a client for one server reaches a Cluster, headgate warns
 *   and sends operations slot by slot.
 * - **Clock.** The server's `TIME`.
 * - **Expiry.** States expire when they equal fresh ones, or up to a slice or a sixteenth of a bucket's span
 *   later.
 * - **Client.** A `Redis` or `Cluster` of ioredis 5 or 6 or of iovalkey, or what `createClient`,
 *   `createSentinel` or `createCluster` of redis 5 or 6 (node-redis) returns. The store never closes it. It
 *   respects the client's `keyPrefix`, but no other options for commands, such as a type mapping.
 * - **Connection.** Operations wait for the client's first connection. If it is lost later, they fail at
 *   once with a `StoreError`, instead of waiting in the client's queue.
 * - **node-redis.** Call `connect()`: before that, operations fail. Listen for `error`: without a listener,
 *   a lost connection ends the process, and headgate warns of that.
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
  const transport = transportOf(client)
  const { slotOf, serverOf } = transport
  const forAny: Batching = { ...BATCHING, ...transport.batching }
  const batching = serverOf ? forAny : serverBatching(client, forAny)
  const run = serverOf ? runOnCluster(transport, batching) : runOnServer(client, transport, batching)
  return trusted({
    name: 'redis',
    batching,
    apply: applyBy('redisStore', run, batching),
    ...(serverOf && { serverOf: (key: string) => serverOf(slotOf(key)) }),
    origin: { client },
    documents: redisDocuments(transport),
  })
}
