import { type ClusterNode, converge, mastersAmong, ownerOf } from './cluster-state.js'
import { type RedisServer, redisCli, startRedisNode } from './redis-node.js'
import { type SlotMove, startSlotMove } from './slot-move.js'
import { startAll, stopAll } from './wait.js'

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
    await join(servers, replicasPerNode)
    const nodes = await Promise.all(servers.map(clusterNodeOf))
    await converge(nodes)
    return clusterOf(nodes)
  } catch (error) {
    await stopAll(servers)
    throw error
  }
}

async function join(servers: readonly RedisServer[], replicasPerNode: number): Promise<void> {
  const addresses = servers.map(({ host, port }) => `${host}:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', replicasPerNode, '--cluster-yes']
  await redisCli(undefined, create, 60_000)
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
