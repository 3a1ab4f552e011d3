import { applyBy } from '../shared/run-operations.js'
import { acrossShards } from '../shared/shards.js'
import type { Batching, Store } from '../store.js'
import { type AnyRedisClient, transportOf } from './client.js'
import { redisDocuments } from './documents.js'
import { redisNotes } from './notes.js'
import { scriptRunner } from './script-runner.js'

/**
 * 256 keys spread the cost of a call, and do not keep the server's other clients waiting. The server decides
 * one batch while the next one travels, in order, over one connection. With a distant server, more batches
 * travel: none delays the next one for longer than the stall timeout.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 10 }

/**
 * Creates a store that keeps states in Redis or Valkey, for any number of processes. Concurrent operations
 * go in a single script call.
 *
 * - Atomicity: a Lua script. A call is sent again only if it certainly was not run: the server does not
 *   know the script (`NOSCRIPT`), or a Cluster's node rejects it because a slot has moved.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided
 *   slot by slot, and refunded when a later slot denies: no more than a limit is ever admitted, but until
 *   the refund, up to the cost of such a charge is missing to others.
 * - Clock: the server's `TIME`.
 * - States expire once they are fresh, up to a slice or a sixteenth of a bucket's span later.
 * - `client` is a `Redis` or a `Cluster` of ioredis 5 or 6 or of iovalkey, or what `createClient`,
 *   `createSentinel` or `createCluster` of redis 5 or 6 (node-redis) returns. It is never closed, and its
 *   `keyPrefix` is respected; other options for its commands, such as a type mapping, are not.
 * - Operations wait for the client's first connection; later they fail with `StoreError` at once while it is
 *   disconnected, instead of waiting in its queue. A client of node-redis connects when `connect()` is
 *   called: before that, operations fail. It ends the process at a lost connection unless it has an `error`
 *   listener, so headgate warns when it has none.
 *
 * Throws a `TypeError` for any other client.
 */
export function redisStore(client: AnyRedisClient): Store {
  const transport = transportOf(client)
  const { shardOf, serverOf, maxInFlight = BATCHING.maxInFlight } = transport
  const batching = { ...BATCHING, maxInFlight }
  const runScripts = scriptRunner(transport)
  const run = shardOf ? acrossShards(shardOf, runScripts, batching) : runScripts
  return {
    name: 'redis',
    batching,
    apply: applyBy('redisStore', run, batching.maxKeys),
    ...(shardOf && serverOf && { serverOf: (key: string) => serverOf(shardOf(key)) }),
    origin: { client },
    notes: redisNotes(transport),
    documents: redisDocuments(transport),
  }
}
