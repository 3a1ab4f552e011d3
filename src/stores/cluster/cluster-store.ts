import cluster from 'node:cluster'
import { isMainThread } from 'node:worker_threads'
import { readOptions, unchecked, withDefault } from '../../options/option-table.js'
import { choice, keyName, wrongUse } from '../../util/validate.js'
import { ownerDocuments } from '../builders/document-codec.js'
import { type OwnerMessage, ownerStore } from '../builders/owner-store.js'
import type { MemoryStoreOptions } from '../memory/memory-store.js'
import type { Store } from '../store.js'
import { DEFAULT_NAME } from './messages.js'
import { ownedStore } from './owned-stores.js'
import { ownerChannel, REPLY_TIMEOUT_MS } from './owner-channel.js'

/**
 * Options of `clusterStore`. `maxKeys` and `clock` take effect only in the process that owns the counts.
 */
export interface ClusterStoreOptions extends MemoryStoreOptions {
  /** Tells several stores apart. Default `'limits'`. */
  name?: string
  /**
   * Which process owns the counts. Default `'primary'`: the primary of `node:cluster`, or this process if it
   * is not a worker. `'parent'` is the process that started this one with `fork` from `node:child_process`.
   * It has to call `serveChild`.
   */
  owner?: 'primary' | 'parent'
}

const OPTIONS = {
  rows: {
    name: withDefault(DEFAULT_NAME, keyName),
    owner: withDefault('primary', choice('primary', 'parent')),
    maxKeys: unchecked, // by memoryStore
    clock: unchecked,
  },
}

/**
 * Creates a store that keeps counts in the memory of one process, and shares them with its workers. Call it
 * in the primary before it forks, and in each worker. In the primary, it is a `memoryStore` that serves all
 * workers. In a worker, it sends operations to the primary in batches, through the IPC channel.
 *
 * - **Atomicity.** The primary applies each batch in one step, in the order of arrival.
 * - **Clock.** The primary's.
 * - **Workers that die.** The primary releases their units of `concurrency` at once.
 * - **A primary that hangs** counts as a store that is down, so `onStoreError` decides.
 * - **Restarts.** The counts end with the primary, unless it passes them on with `dumpMemory`.
 * - **Other messages** on the channel are left alone, and the channel keeps no worker running.
 *
 * Stores with the same name share their counts. Throws a `TypeError` for wrong options, in a worker thread,
 * and with `owner: 'parent'` if there is no channel to a parent.
 *
 * @example
 * ```ts
 * import cluster from 'node:cluster'
 * import { createServer } from 'node:http'
 * import { rateLimit } from 'headgate/http'
 * import { clusterStore } from 'headgate/cluster'
 *
 * const store = clusterStore()
 * export function start(): void {
 *   if (cluster.isPrimary) for (let i = 0; i < 2; i++) cluster.fork()
 *   else {
 *     const limit = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 *     createServer((req, res) => limit(req, res, () => res.end('hello'))).listen(3000)
 *   }
 * }
 * ```
 */
export function clusterStore(options: ClusterStoreOptions = {}): Store {
  const { name, owner } = readOptions('clusterStore', options, OPTIONS)
  const { maxKeys, clock } = options
  if (!isMainThread) {
    const problem = 'a worker thread has no channel to the process that owns the counts'
    throw wrongUse(
      'clusterStore',
      problem,
      'Call it in the main thread, and let worker threads ask the main thread.',
    )
  }
  if (owner === 'parent' && process.send === undefined) {
    const problem = 'this process has no IPC channel to a parent'
    throw wrongUse(
      'clusterStore',
      problem,
      'Start it with fork() from node:child_process, or leave out owner.',
    )
  }
  const isOwner = owner === 'primary' && cluster.isPrimary
  return isOwner
    ? ownedStore(name, { ...(maxKeys !== undefined && { maxKeys }), ...(clock && { clock }) })
    : remoteStoreOf(name)
}

/** Returns a store that asks the process that owns the counts. */
function remoteStoreOf(store: string): Store {
  const channel = ownerChannel()
  const send = (message: OwnerMessage) => channel.request(store, message)
  return ownerStore({
    name: 'cluster',
    send,
    timeout: REPLY_TIMEOUT_MS,
    origin: { client: channel, table: store },
    documents: ownerDocuments('cluster', send),
  })
}
