import type { EventEmitter } from 'node:events'
import type { Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'
import { Cluster, Redis } from 'ioredis'
import { Client } from 'memjs'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { createClient, createCluster, createSentinel } from 'redis'

interface Address {
  readonly host: string
  readonly port: number
}

/** The store that an application is to use, and where it finds it. */
export type Target =
  | ({ readonly kind: 'redis' | 'redis-6' } & Address)
  | {
      readonly kind: 'sentinel' | 'sentinel-6'
      readonly name: string
      readonly sentinels: readonly Address[]
    }
  | { readonly kind: 'cluster' | 'cluster-6'; readonly nodes: readonly Address[] }
  | { readonly kind: 'memcached'; readonly url: string }
  | { readonly kind: 'mariadb' | 'postgres'; readonly url: string }

/** A store over a client that is made as the docs say. */
export interface Opened {
  readonly store: Store
  /** The driver's objects that have listeners. */
  readonly emitters: () => readonly EventEmitter[]
  readonly close: () => unknown
}

const REDIS = {
  autoResendUnfulfilledCommands: false,
  lazyConnect: true,
  retryStrategy: (times: number) => Math.min(times * 50, 500),
}

const socket = { reconnectStrategy: REDIS.retryStrategy }

export function openTarget(target: Target): Opened {
  switch (target.kind) {
    case 'redis':
      return openRedis(new Redis({ ...REDIS, host: target.host, port: target.port }))
    case 'sentinel':
      return openRedis(new Redis({ ...REDIS, name: target.name, sentinels: [...target.sentinels] }))
    case 'cluster':
      return openRedis(
        new Cluster([...target.nodes], {
          retryDelayOnFailover: 0,
          retryDelayOnClusterDown: 0,
          lazyConnect: true,
        }),
      )
    case 'redis-6':
      return openNodeRedis(createClient({ socket: { ...socket, host: target.host, port: target.port } }))
    case 'sentinel-6': {
      const { name, sentinels } = target
      const nodeClientOptions = { socket }
      return openNodeRedis(createSentinel({ name, sentinelRootNodes: [...sentinels], nodeClientOptions }))
    }
    case 'cluster-6': {
      const rootNodes = target.nodes.map(({ host, port }) => ({ url: `redis://${host}:${port}` }))
      return openNodeRedis(
        createCluster({ rootNodes, defaults: { socket }, topologyRefreshOnReconnectionAttemptStrategy: 500 }),
      )
    }
    case 'memcached':
      return openMemcached(Client.create(target.url, { logger: { log: ignore } }))
    case 'mariadb':
      return openMysql(target.url)
    case 'postgres':
      return openPostgres(target.url)
  }
}

function openRedis(client: Redis | Cluster): Opened {
  client.on('error', ignore) // while the server is down, connecting fails
  return { store: redisStore(client), emitters: () => [client], close: () => client.disconnect() }
}

/** A client of redis 6, which is connected from the start. */
function openNodeRedis<Client extends Parameters<typeof redisStore>[0] & NodeRedisLife>(
  client: Client,
): Opened {
  client.on('error', ignore)
  client.connect().catch(ignore)
  const emitters = () => [client as unknown as EventEmitter]
  return { store: redisStore(client), emitters, close: () => client.destroy() }
}

interface NodeRedisLife {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  destroy(): unknown
}

function openMemcached(client: Client): Opened {
  return {
    store: memcachedStore(client),
    emitters: () => client.servers as unknown as EventEmitter[],
    close: () => client.close(),
  }
}

function openMysql(uri: string): Opened {
  const pool = createPool(uri)
  return { store: mysqlStore(pool), emitters: () => [pool.pool as EventEmitter], close: () => pool.end() }
}

function openPostgres(connectionString: string): Opened {
  const pool = new Pool({ connectionString })
  pool.on('error', ignore) // an idle connection was lost
  return { store: postgresStore(pool), emitters: () => [pool], close: () => pool.end() }
}

function ignore(): void {}
