import { applyBy, type Run } from '../shared/run-operations.js'
import { type ApplyToKey, acrossShards, keyedPolicyOf, runByKey } from '../shared/shards.js'
import type { Batching, Store } from '../store.js'
import { casStrategy } from './cas-strategy.js'
import { type MemcachedClient, readClient } from './client.js'
import { memjsTransport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
import { haveSameCounters } from './counters.js'
import { memcachedDocuments } from './documents.js'
import { lossMonitor } from './loss-monitor.js'
import { itemKey } from './protocol.js'

/**
 * A batch that takes longer than the stall timeout (the server is far away) no longer delays the next ones.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 3 }

/** How often the servers are asked whether they have lost limits, while the store is in use. */
const POLL_INTERVAL_MS = 60_000

/** The kinds of policies whose state is only counts. */
const COUNTED: readonly string[] = ['consecutive', 'fixed-window', 'sliding-window']

/**
 * Creates a store that keeps states in memcached, for any number of processes, without locks.
 *
 * - Technique: `fixedWindow`, `slidingWindow` and `consecutive` are counters, changed by `incr`. The
 *   others, such as `tokenBucket`, `slidingLog`, `ban`, `concurrency` and a `fixedWindow` from the first request, are one
 *   value, changed by compare-and-swap. It is retried for two seconds. Then the operation fails with a
 *   `StoreError`.
 * - Bound: never more than a limit is admitted, if clocks are less than a second apart. A charge of several
 *   keys is decided key by key. When a later key denies, the earlier ones are refunded; until then others
 *   may be denied for those units.
 * - Clock: this process's, in whole milliseconds. Synchronize the clocks of processes that share limits: a
 *   second apart is too much, and windows of the clock count apart around their borders.
 * - Another limit keeps the counts of `fixedWindow`, `slidingWindow` and `consecutive`, also with `onChange:
 *   'scale'`. Another window, or another length of its slices, starts with new ones.
 * - Items expire one to three seconds after their state equals a fresh one, never earlier.
 * - `client` is the user's memjs client, version 1.3. The store never closes it, and sends no request
 *   twice, whatever the client's `retries` are.
 *
 * Throws a `TypeError` for anything but such a client.
 */
export function memcachedStore(client: MemcachedClient): Store {
  const transport = memjsTransport(readClient(client))
  const countUp = counterStrategy(transport)
  const compareAndSwap = casStrategy(transport)
  const applyToKey: ApplyToKey = (key, operations) => {
    const { kind } = keyedPolicyOf(operations[0]).policy.spec
    return COUNTED.includes(kind) ? countUp(key, operations) : compareAndSwap(key, operations)
  }
  const losses = lossMonitor(client)
  const runEachKey = runByKey(applyToKey, itemKey)
  const run: Run = (operations, settle) => {
    const nowMs = Date.now()
    if (Math.abs(nowMs - losses.polledAtMs) >= POLL_INTERVAL_MS) losses.poll(nowMs)
    return runEachKey(operations, settle)
  }

  return {
    name: 'memcached',
    batching: BATCHING,
    apply: applyBy(
      'memcachedStore',
      acrossShards((key) => key, run, BATCHING),
      BATCHING.maxKeys,
    ),
    keepsUsage: haveSameCounters,
    onLimitsLost: losses.subscribe,
    origin: { client },
    documents: memcachedDocuments(transport),
    ...(client.servers.length > 1 && { serverOf: (key: string) => transport.serverOf(itemKey(key)) }),
  }
}
