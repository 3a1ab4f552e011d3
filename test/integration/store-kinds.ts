import { memoryStore, type Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { startMemcached } from '../support/servers/memcached.js'
import { startRedis } from '../support/servers/redis.js'
import { startRedisCluster } from '../support/servers/redis-cluster.js'
import { connections } from './memcached/clients.js'
import { connect } from './redis/connect.js'
import { connectCluster } from './redis/connect-cluster.js'
import type { Kind } from './sql/database-kind.js'
import { mariadb } from './sql/mariadb-kind.js'
import { postgres } from './sql/postgres-kind.js'

export type StoreName = 'memory' | 'Redis' | 'Redis Cluster' | 'memcached' | 'MariaDB' | 'PostgreSQL'

/** A kind of store, on one server. */
export interface StoreKind {
  readonly name: StoreName
  /**
   * Whether a charge of several keys is decided in one moment. Without it charges that cross may deny each
   * other.
   */
  readonly isAtomic: boolean
  start(): Promise<Started>
}

export interface Started {
  /** A store of its own on a client of its own, as another process has it. */
  makeStore(): Promise<Store>
  stop(): Promise<void>
}

async function startOnRedis(): Promise<Started> {
  const server = await startRedis()
  const ends: (() => void)[] = []
  return {
    async makeStore() {
      const client = await connect(server.url)
      ends.push(() => client.disconnect())
      return redisStore(client)
    },
    async stop() {
      for (const end of ends) end()
      await server.stop()
    },
  }
}

async function startOnCluster(): Promise<Started> {
  const cluster = await startRedisCluster()
  const ends: (() => void)[] = []
  return {
    async makeStore() {
      const client = await connectCluster(cluster)
      ends.push(() => client.disconnect())
      return redisStore(client)
    },
    async stop() {
      for (const end of ends) end()
      await cluster.stop()
    },
  }
}

async function startOnMemcached(): Promise<Started> {
  const server = await startMemcached({ own: true })
  const { open, closeAll } = connections()
  return {
    makeStore: async () => memcachedStore(open(server.url)),
    async stop() {
      closeAll()
      await server.stop()
    },
  }
}

const onSql = (kind: Kind) => async (): Promise<Started> => {
  const server = await kind.start()
  const ends: (() => Promise<void>)[] = []
  return {
    async makeStore() {
      const pool = kind.open(server.url)
      const store = pool.makeStore()
      ends.push(() => pool.end())
      await store.prepare()
      return store
    },
    async stop() {
      await Promise.all(ends.map((end) => end()))
      await server.stop()
    },
  }
}

/** There is one process that sees this memory, so its guards share the store object. */
async function startInMemory(): Promise<Started> {
  const store = memoryStore()
  return { makeStore: async () => store, stop: async () => undefined }
}

/** The stores that several processes can share, and memory. */
export const STORES: readonly StoreKind[] = [
  { name: 'memory', isAtomic: true, start: startInMemory },
  { name: 'Redis', isAtomic: true, start: startOnRedis },
  { name: 'Redis Cluster', isAtomic: false, start: startOnCluster },
  { name: 'memcached', isAtomic: false, start: startOnMemcached },
  { name: 'MariaDB', isAtomic: true, start: onSql(mariadb) },
  { name: 'PostgreSQL', isAtomic: true, start: onSql(postgres) },
]

/** Some of the stores. */
export function kindsNamed(...names: readonly StoreName[]): StoreKind[] {
  return names.map((name) => STORES.find((kind) => kind.name === name) as StoreKind)
}
