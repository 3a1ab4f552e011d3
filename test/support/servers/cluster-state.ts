import { redisReply } from './redis-command.js'
import type { RedisServer } from './redis-node.js'
import { until } from './wait.js'

export const SLOTS = 16_384

export interface ClusterNode extends RedisServer {
  /** The node's name in the cluster. */
  readonly id: string
}

type Range = readonly [first: number, last: number]
type Address = readonly [host: string, port: number, id: string]
type SlotsRow = readonly [first: number, last: number, master: Address, ...replicas: Address[]]

/** The nodes that run and are masters now. */
export async function mastersAmong(nodes: readonly ClusterNode[]): Promise<ClusterNode[]> {
  const roles = await Promise.all(running(nodes).map((node) => node.cli('ROLE')))
  return running(nodes).filter((_, i) => roles[i]?.startsWith('master'))
}

/** The master that serves a slot, by its own account. */
export async function ownerOf(nodes: readonly ClusterNode[], slot: number): Promise<ClusterNode> {
  for (const node of await mastersAmong(nodes)) {
    const ranges = rangesIn((await viewOf(node)).own)
    if (ranges.some(([first, last]) => first <= slot && slot <= last)) return node
  }
  throw new Error(`No node of the cluster serves slot ${slot}.`)
}

/**
 * Waits until every slot has a master that runs, every replica is in step with its master, and every node
 * knows of all that.
 */
export async function converge(nodes: readonly ClusterNode[]): Promise<void> {
  const check = async () => {
    const views = await Promise.all(running(nodes).map(viewOf))
    const served = views.flatMap(({ own }) => rangesIn(own)).reduce((sum, [a, b]) => sum + b - a + 1, 0)
    const replicas = views.filter(({ own }) => own.includes('slave')).length
    return served === SLOTS && views.every((view) => view.content && view.replicas === replicas)
  }
  await until('the nodes of the cluster serve all slots and know each other', check, { everyMs: 100 })
}

function running(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(({ pid }) => pid !== undefined)
}

interface View {
  /** The node's line about itself. */
  readonly own: string
  /** How many replicas it announces to clients. */
  readonly replicas: number
  /** Whether it finds all slots served, and has its master's data where it is a replica. */
  readonly content: boolean
}

/** The cluster as one node sees it. */
async function viewOf(node: ClusterNode): Promise<View> {
  const lines = (await node.cli('CLUSTER', 'NODES')).split('\n')
  const rows = (await redisReply(node.url, ['CLUSTER', 'SLOTS'])) as unknown as SlotsRow[]
  const state = await node.cli('CLUSTER', 'INFO')
  const replication = await node.cli('INFO', 'replication')
  return {
    own: lines.find((line) => line.includes('myself')) ?? '',
    replicas: new Set(rows.flatMap(([, , , ...replicas]) => replicas.map(([, , id]) => id))).size,
    content:
      state.includes('cluster_state:ok') &&
      state.includes(`cluster_slots_ok:${SLOTS}`) &&
      !replication.includes('master_link_status:down'),
  }
}

/** A node's line of CLUSTER NODES ends with its slots: `0-5460 5462`, and those on their way in brackets. */
function rangesIn(line: string): Range[] {
  const words = line.split(' ').slice(8)
  return words.filter((word) => !word.startsWith('[')).map(rangeOf)
}

function rangeOf(word: string): Range {
  const [first = Number.NaN, last = first] = word.split('-').map(Number)
  return [first, last]
}
