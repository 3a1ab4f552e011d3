import { type ClusterNode, converge, mastersAmong, ownerOf, SLOTS } from './cluster-state.js'
import { type RedisServer, startRedisNode } from './redis-node.js'
import { type SlotMove, startSlotMove } from './slot-move.js'
import { startAll, stopAll, until } from './wait.js'

export { type ClusterNode, SLOTS } from './cluster-state.js'
export type { SlotMove } from './slot-move.js'

/** Redis' cluster bus uses the clients' port plus this. */
const BUS_OFFSET = 10_000

/**
 * CLUSTER SLOTS (Redis 7.0) hides a replica until its master has sent it something, which is a ping every
 * 10 s else.
 */
const SHOW_REPLICAS = ['--repl-ping-replica-period', '1']

export interface ClusterOptions {
  /** The masters: 3 or more. */
  readonly nodes?: number
  readonly replicasPerNode?: 0 | 1
  /** How long a node may be silent before the others count it as failed. */
  readonly nodeTimeoutMs?: number
  /** More options of redis-server for every node, such as `['--cluster-require-full-coverage', 'no']`. */
  readonly args?: readonly string[]
}

export interface RedisCluster {
  /** The masters first, then the replicas, as the cluster was made. */
  readonly nodes: readonly ClusterNode[]
  /** The master that serves a slot now. */
  ownerOf(slot: number): Promise<ClusterNode>
  /**
   * Begins to move a slot to another master, and leaves it between the two: the old one answers ASK for
   * keys that it does not have. The move's `migrateKeys` and `finish` do the rest.
   */
  startMove(slot: number, to: ClusterNode): Promise<SlotMove>
  /** Moves a slot with its keys to another master; the old one answers MOVED from then on. */
  moveSlot(slot: number, to: ClusterNode): Promise<void>
  /** Waits until every slot has a master that runs, every node knows it, and every replica is in step. */
  converge(): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis Cluster on loopback, by default of 3 masters without replicas. */
export async function startRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { nodes: masters = 3, replicasPerNode = 0, nodeTimeoutMs = 2000, args = [] } = options
  const timeout = ['--cluster-node-timeout', String(nodeTimeoutMs)]
  const nodeArgs = ['--cluster-enabled', 'yes', ...timeout, ...SHOW_REPLICAS, ...args]
  const count = masters * (1 + replicasPerNode)
  const start = () => startRedisNode('redis-cluster', () => nodeArgs, [BUS_OFFSET])
  const servers = await startAll(Array.from({ length: count }, start))
  try {
    const nodes = await Promise.all(servers.map(clusterNodeOf))
    await join(nodes, masters)
    await converge(nodes)
    return clusterOf(nodes)
  } catch (error) {
    await stopAll(servers)
    throw error
  }
}

/** Shares the slots among the masters, has all nodes meet, and gives each master its replicas. */
async function join(nodes: readonly ClusterNode[], masters: number): Promise<void> {
  const firstSlotOf = (i: number) => Math.floor((i * SLOTS) / masters)
  await Promise.all(
    nodes.slice(0, masters).map(async (node, i) => {
      await node.cli('CLUSTER', 'ADDSLOTSRANGE', firstSlotOf(i), firstSlotOf(i + 1) - 1)
      await node.cli('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
    }),
  )
  const [first, ...others] = nodes as readonly [ClusterNode, ...ClusterNode[]]
  for (const { host, port } of others) await first.cli('CLUSTER', 'MEET', host, port)
  for (const [i, replica] of nodes.slice(masters).entries()) {
    const master = nodes[i % masters] as ClusterNode
    const follow = () => replica.cli('CLUSTER', 'REPLICATE', master.id)
    await until('the replica knows its master', follow, { everyMs: 50 })
  }
}

async function clusterNodeOf(server: RedisServer): Promise<ClusterNode> {
  const id = await server.cli('CLUSTER', 'MYID')
  return Object.defineProperty(server, 'id', { value: id }) as ClusterNode
}

function clusterOf(nodes: readonly ClusterNode[]): RedisCluster {
  const startMove = async (slot: number, to: ClusterNode) =>
    startSlotMove(slot, await ownerOf(nodes, slot), to, await mastersAmong(nodes))
  return {
    nodes,
    ownerOf: (slot) => ownerOf(nodes, slot),
    startMove,
    async moveSlot(slot, to) {
      const move = await startMove(slot, to)
      await move.migrateKeys()
      await move.finish()
    },
    converge: () => converge(nodes),
    stop: () => stopAll(nodes),
  }
}
