import { startMariadb } from '../../../support/servers/mariadb.js'
import { startMemcached } from '../../../support/servers/memcached.js'
import { startPostgres } from '../../../support/servers/postgres.js'
import { startRedis } from '../../../support/servers/redis.js'
import { startRedisCluster } from '../../../support/servers/redis-cluster.js'
import { openTarget, type Target } from '../../faults/target.js'

/** A server for histories. */
export interface StartedTarget {
  readonly target: Target
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

/** How each server is started, by the name of its store. */
export const TARGETS: Readonly<Record<string, () => Promise<StartedTarget>>> = {
  Redis: () => redis('redis'),
  'node-redis': () => redis('redis-6'),
  'Redis Cluster': cluster,
  memcached,
  MariaDB: () => sql('mariadb'),
  PostgreSQL: () => sql('postgres'),
}
