import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { remoteStore } from '../../pipe/remote-store.js'
import { processWide } from '../../util/process-wide.js'
import { encodeFailure } from '../builders/owner-messages.js'
import { serveOperations } from '../builders/serve-operations.js'
import type { MemoryStore } from '../memory/contract.js'
import { dumpableOf, setDumpable } from '../memory/dumpable.js'
import { type MemoryStoreOptions, memoryStore } from '../memory/memory-store.js'
import type { Store } from '../store.js'
import { StoreError } from '../store-error.js'
import { HeldUnits } from './held-units.js'
import { asRequest, type ClusterReply, DEFAULT_NAME } from './messages.js'

/** The stores of this process, and the processes that it serves. All copies of this package share them. */
const owned = processWide('ownedStores', () => ({
  stores: new Map<string, OwnedStore>(),
  receivers: new WeakMap<ChildProcess, (message: unknown) => void>(),
  isServingWorkers: false,
}))

interface OwnedStore {
  readonly memory: MemoryStore
  /** The store for limiters of this process. They then have the same keys as limiters in workers. */
  readonly store: Store
}

/** Returns the store of this name in the memory of this process, and serves it to all workers. */
export function ownedStore(name: string, options: MemoryStoreOptions): Store {
  const found = owned.stores.get(name) ?? createStore(options)
  owned.stores.set(name, found)
  if (!owned.isServingWorkers) cluster.on('message', (worker, message) => receiverOf(worker.process)(message))
  owned.isServingWorkers = true
  return found.store
}

function createStore(options: MemoryStoreOptions): OwnedStore {
  const memory = memoryStore(options)
  const { documents } = memory
  const apply: MemoryStore['apply'] = (operations) => memory.apply(operations)
  const dumpable = dumpableOf(memory)
  if (dumpable !== undefined) setDumpable(apply, dumpable)
  return { memory, store: remoteStore({ name: 'cluster', apply, ...(documents && { documents }) }) }
}

/**
 * Serves this process's cluster stores to a child process that calls `clusterStore({ owner: 'parent' })`.
 * Pass what `fork` of `node:child_process` returned, before the child sends anything. Returns the child.
 *
 * When the child exits, its units of `concurrency` are released. Workers of `node:cluster` do not need this
 * call.
 *
 * @example
 * ```ts
 * import { fork } from 'node:child_process'
 * import { clusterStore, serveChild } from 'headgate/cluster'
 *
 * clusterStore()
 * export const startWorker = () => serveChild(fork('./worker.js'))
 * ```
 */
export function serveChild<Child extends ChildProcess>(child: Child): Child {
  const isWorker = Object.values(cluster.workers ?? {}).some((worker) => worker?.process === child)
  if (!isWorker && !owned.receivers.has(child)) child.on('message', receiverOf(child))
  return child
}

function receiverOf(child: ChildProcess): (message: unknown) => void {
  const receive = owned.receivers.get(child) ?? createReceiver(child)
  owned.receivers.set(child, receive)
  return receive
}

/**
 * Creates the function that serves a process. It applies each request at once, and therefore in order of
 * arrival. A request that arrives after the process has exited holds no units.
 */
function createReceiver(child: ChildProcess): (message: unknown) => void {
  const served = new Map<string, ServedStore>()
  const releaseAll = () => {
    for (const { release } of served.values()) release()
  }
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  child.once('exit', releaseAll)

  return async function receive(message) {
    const request = asRequest(message)
    if (request === undefined) return
    const { id, store: name } = request
    const store = served.get(name) ?? serveStore(name)
    if (store !== undefined) served.set(name, store)
    const reply = store === undefined ? noStore(name) : await store.serve(request.message)
    if (hasExited()) releaseAll()
    // Without a callback, the child would emit an error, which would end this process.
    else child.send({ headgate: 'cluster-reply', id, reply } satisfies ClusterReply, () => {})
  }
}

interface ServedStore {
  readonly serve: ReturnType<typeof serveOperations>
  /** Releases the units that the served process holds. */
  release(): void
}

function serveStore(name: string): ServedStore | undefined {
  const { memory } = owned.stores.get(name) ?? {}
  if (memory === undefined) return undefined
  const held = new HeldUnits()
  const apply: MemoryStore['apply'] = (operations) => {
    const outcomes = memory.apply(operations)
    held.record(operations, outcomes)
    return outcomes
  }
  const release = () => void memory.apply(held.takeReleases())
  return { serve: serveOperations({ ...memory, name: 'cluster', apply }), release }
}

function noStore(name: string) {
  const fix = `Call clusterStore(${name === DEFAULT_NAME ? '' : `{ name: '${name}' }`}) there before it forks.`
  const problem = `the process that owns the counts has no store named '${name}'`
  return encodeFailure('cluster', new StoreError('cluster', `${problem}. ${fix}`, { unsent: true }))
}
