import slotOf from 'cluster-key-slot'
import type { Policy, Store } from 'headgate'
import { type Batching, customStore, keysOf, type Operation, type Outcome, type State } from 'headgate/store'
import { applyBatch } from '../../../src/stores/shared/apply-batch.js'
import { applyBy, type Run, type RunGroup, runGroups } from '../../../src/stores/shared/run-operations.js'
import { groupBy } from '../../../src/util/group-by.js'
import type { StoreKind, Work } from './costs.js'
import type { Node } from './node.js'
import type { VirtualTime } from './virtual-time.js'

const SLOTS = 16_384

/** How the stores of `src/stores` batch. */
const BATCHING: Readonly<Record<StoreKind, Batching>> = {
  redis: { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 10 },
  memcached: { maxKeys: 256, maxInFlight: 2, stallTimeoutMs: 3 },
  postgres: { maxKeys: 256, maxInFlight: 2, maxPending: 3, locksKeys: true },
}

/** The servers that all processes share. */
export interface Servers {
  readonly kind: StoreKind
  readonly nodes: readonly Node[]
  /** Of all keys. */
  readonly states: Map<string, State | undefined>
  readonly latency: () => number
  readonly time: VirtualTime
}

/** A connection delivers in order, each way. */
interface Connection {
  requestsAtMs: number
  repliesAtMs: number
}

/**
 * Creates the store of one process. It batches as headgate's own does, and decides by the same policies, on
 * nodes that are simulated. A batch is one request for each node: one script call on a single Redis, one for
 * each slot in a Cluster, one transaction in a database.
 *
 * memcached has no clock: there the process decides by its own, which is `skewMs` ahead, and each window
 * has a counter of its own.
 */
export function simulatedStore({ kind, nodes, states, latency, time }: Servers, skewMs: number): Store {
  const connections = nodes.map((): Connection => ({ requestsAtMs: 0, repliesAtMs: 0 }))
  const hasOwnClock = kind === 'memcached'
  const isCluster = kind === 'redis' && nodes.length > 1
  const nodeOf = (key: string) => Math.floor((slotOf(key) * nodes.length) / SLOTS)
  const itemOf = (key: string, { windowMs }: Policy, nowMs: number) =>
    hasOwnClock ? `${key}@${Math.floor(nowMs / windowMs)}` : key

  function decide(operations: readonly Operation[], nowMs: number): readonly Outcome[] {
    const read = (key: string, policy: Policy) => states.get(itemOf(key, policy, nowMs))
    const { results, writes } = applyBatch(operations, read, nowMs)
    for (const [key, { policy, state }] of writes) states.set(itemOf(key, policy, nowMs), state)
    return results as readonly Outcome[]
  }

  function workOf(operations: readonly Operation[]): Work {
    const keys = new Set(operations.map(keyOf))
    const charges = operations.length
    if (kind === 'postgres') return { calls: charges > 1 ? 1 : 0, keys: keys.size, charges }
    return { calls: isCluster ? new Set(Array.from(keys, slotOf)).size : 1, keys: keys.size, charges }
  }

  /** Sends one node its operations. Never resolves if the node is lost. */
  function request(at: number, operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const [node, connection] = [nodes[at] as Node, connections[at] as Connection]
    const sentAtMs = time.now()
    connection.requestsAtMs = Math.max(connection.requestsAtMs, sentAtMs + latency())
    return new Promise((resolve) => {
      const arrive = () => {
        const servedAtMs = node.serve(time.now(), workOf(operations))
        if (servedAtMs === undefined) return
        const results = decide(operations, hasOwnClock ? sentAtMs + skewMs : servedAtMs)
        connection.repliesAtMs = Math.max(connection.repliesAtMs, servedAtMs + latency())
        time.at(connection.repliesAtMs, () => resolve(results))
      }
      time.at(connection.requestsAtMs, arrive, false)
    })
  }

  const run: Run = (operations, settle) => {
    const byNode = groupBy(operations.keys(), (i) => nodeOf(keyOf(operations[i] as Operation)))
    const groups = Array.from(byNode, ([at, indexes]): RunGroup => {
      return { indexes, run: (ofNode) => request(at, ofNode) }
    })
    return runGroups(operations, groups, settle)
  }
  const apply = applyBy('simulated', run, { maxKeys: Number.POSITIVE_INFINITY })

  return customStore({ name: kind, batching: BATCHING[kind], apply })
}

/** Returns the key of an operation: a simulated charge has one part. */
function keyOf(operation: Operation): string {
  return keysOf(operation)[0]?.key ?? ''
}
