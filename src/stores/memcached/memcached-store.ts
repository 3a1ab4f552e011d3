import { runByKey } from '../../pipe/by-key.js'
import { remoteStore } from '../../pipe/remote-store.js'
import type { Policy } from '../../policies/policy.js'
import type { Operation } from '../operation.js'
import { checkOperations, type Run } from '../shared/run-operations.js'
import type { Batching, Store } from '../store.js'
import { casStrategy } from './cas-strategy.js'
import { addressOf, type MemcachedClient, readClient } from './client.js'
import { memjsTransport } from './connection.js'
import { counterStrategy } from './counter-strategy.js'
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
 * Creates a store that keeps states in memcached, shared by any number of processes, without locks.
 *
 * - **Technique.** `fixedWindow`, `slidingWindow` and `consecutive` are counters, changed by `incr`. All
 *   other policies, and a `fixedWindow` from the first request, are one value, changed by compare-and-swap.
 *   It is retried for two seconds. Then the operation fails with a `StoreError`.
 * - **Several keys.** A charge of several keys is decided key by key. If a later key denies, the earlier ones
 *   are refunded. Until then, other charges may be denied for lack of those units. No limit is ever exceeded.
 * - **Clock.** This process's, in whole milliseconds. Synchronize the clocks of all processes to less than a
 *   second. Otherwise limits may be exceeded: around the border of a window, each clock counts separately.
 * - **Change of numbers.** Under another window, `fixedWindow` starts afresh.
 * - **Expiry.** Items expire one to three seconds after their state equals a fresh one, never earlier.
 * - **Client.** `client` is your memjs client, version 1.3. The store never closes it, and sends no request
 *   twice, whatever the client's `retries` are.
 *
 * Throws a `TypeError` for anything but such a client.
 *
 * @example
 * ```ts
 * import { Client } from 'memjs'
 * import { rateLimit } from 'headgate'
 * import { memcachedStore } from 'headgate/memcached'
 *
 * const store = memcachedStore(Client.create('127.0.0.1:11211'))
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * ```
 */
export function memcachedStore(client: MemcachedClient): Store {
  const transport = memjsTransport(readClient(client))
  const counterApplier = counterStrategy(transport)
  const compareAndSwap = casStrategy(transport)
  const applierOf = (operation: Operation, { spec }: Policy) =>
    COUNTED.includes(spec.kind) ? counterApplier(operation) : compareAndSwap
  const losses = lossMonitor(client)
  const runEachKey = runByKey('memcached', applierOf, itemKey)
  const apply: Run = (operations, settle) => {
    checkOperations('memcachedStore', operations)
    const nowMs = Date.now()
    if (Math.abs(nowMs - losses.polledAtMs) >= POLL_INTERVAL_MS) losses.poll(nowMs)
    return runEachKey(operations, settle)
  }

  function serverOf(key: string): string | undefined {
    const { server } = transport.channelOf(itemKey(key))
    return server && addressOf(server)
  }

  return remoteStore({
    name: 'memcached',
    batching: BATCHING,
    apply,
    onLimitsLost: losses.subscribe,
    origin: { client },
    documents: memcachedDocuments(transport),
    ...(client.servers.length > 1 && { serverOf }),
  })
}
