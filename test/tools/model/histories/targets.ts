import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, type Store } from 'headgate'
import { nodeOf } from '../../../e2e/package/nodes.js'
import { startMariadb } from '../../../support/servers/mariadb.js'
import { startMemcached } from '../../../support/servers/memcached.js'
import { startPostgres } from '../../../support/servers/postgres.js'
import { startRedis } from '../../../support/servers/redis.js'
import { startRedisCluster } from '../../../support/servers/redis-cluster.js'
import { openTarget, type Target } from '../../faults/target.js'
import { LOCKING_TABLE } from './built-stores.js'
import { LEASED_NAMES, SEVERAL_NAMES } from './limits.js'
import type { CallerTarget } from './open-store.js'
import { LEASED_LOAD, type Load } from './record.js'

/** A server for histories. */
export interface StartedTarget {
  readonly target: CallerTarget
  /** The Node.js of its callers; by default the running one. */
  readonly execPath?: string
  /** The store of this process that has the states. */
  readonly owned?: Store
  /** Returns the target of the same server at another address, such as that of a proxy. */
  at?(host: string, port: number): Target
  readonly address?: { readonly host: string; readonly port: number }
  stop(): Promise<void>
}

async function redis(kind: 'redis' | 'redis-6'): Promise<StartedTarget> {
  const { host, port, stop } = await startRedis({ own: true })
  return {
    target: { kind, host, port },
    at: (host, port) => ({ kind, host, port }),
    address: { host, port },
    stop,
  }
}

async function cluster(): Promise<StartedTarget> {
  const { nodes, stop } = await startRedisCluster()
  return { target: { kind: 'cluster', nodes: nodes.map(({ host, port }) => ({ host, port })) }, stop }
}

async function memcached(): Promise<StartedTarget> {
  const { url, host, port, stop } = await startMemcached({ own: true })
  const kind = 'memcached'
  return {
    target: { kind, url },
    at: (host, port) => ({ kind, url: `${host}:${port}` }),
    address: { host, port },
    stop,
  }
}

async function sql(kind: 'mariadb' | 'postgres'): Promise<StartedTarget> {
  const { url, host, port, stop } = await (kind === 'mariadb' ? startMariadb() : startPostgres())
  const { store, close } = openTarget({ kind, url })
  await (store as unknown as { prepare(): Promise<void> }).prepare()
  await close()
  const at = (host: string, port: number): Target => {
    const other = new URL(url)
    other.hostname = host
    other.port = String(port)
    return { kind, url: other.href }
  }
  return { target: { kind, url }, at, address: { host, port }, stop }
}

const overRedis = async (kind: 'leased' | 'swapping'): Promise<StartedTarget> => {
  const { host, port, stop } = await startRedis({ own: true })
  return { target: { kind, host, port }, stop }
}

async function locking(): Promise<StartedTarget> {
  const { url, query, stop } = await startPostgres()
  await query(LOCKING_TABLE)
  return { target: { kind: 'locking', url }, stop }
}

async function sqlite(): Promise<StartedTarget> {
  const { path: execPath } = await nodeOf('22') // the first that has node:sqlite
  const folder = await mkdtemp(join(tmpdir(), 'headgate-histories-'))
  return {
    target: { kind: 'sqlite', path: join(folder, 'limits.db') },
    execPath,
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

const owned = async (): Promise<StartedTarget> => ({
  target: { kind: 'owned' },
  owned: memoryStore(),
  stop: async () => undefined,
})

/** A store, and what is called on it. */
export interface HistoryTarget {
  start(): Promise<StartedTarget>
  /** By default each limit of one key. */
  readonly limits?: readonly string[]
  readonly load?: Load
  /** Whether it cannot lock rows that are missing. */
  readonly mayMissRow?: true
}

const several = (start: HistoryTarget['start']): HistoryTarget => ({ start, limits: SEVERAL_NAMES })

/** The stores by name. */
export const TARGETS: Readonly<Record<string, HistoryTarget>> = {
  Redis: { start: () => redis('redis') },
  'node-redis': { start: () => redis('redis-6') },
  'Redis Cluster': { start: cluster },
  memcached: { start: memcached },
  MariaDB: { start: () => sql('mariadb') },
  PostgreSQL: { start: () => sql('postgres') },
  SQLite: { start: sqlite },
  compareAndSwapStore: { start: () => overRedis('swapping') },
  transactionStore: { start: locking },
  ownerStore: { start: owned },
  'leased Redis': { start: () => overRedis('leased'), limits: LEASED_NAMES, load: LEASED_LOAD },
  'Redis, several keys': several(() => redis('redis')),
  'MariaDB, several keys': { ...several(() => sql('mariadb')), mayMissRow: true },
  'PostgreSQL, several keys': { ...several(() => sql('postgres')), mayMissRow: true },
  'SQLite, several keys': several(sqlite),
}
