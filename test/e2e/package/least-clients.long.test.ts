import { join } from 'node:path'
import type { Store } from 'headgate'
import { createLimiter } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'
import type * as Ioredis from 'ioredis'
import type * as Memjs from 'memjs'
import type * as Mysql from 'mysql2/promise'
import type * as Pg from 'pg'
import type * as NodeRedis from 'redis'
import { startMariadb } from '../../support/servers/mariadb.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { fetchPackages } from './fetched.js'
import { LEAST_CLIENTS } from './least-versions.js'

jest.setTimeout(300_000)

interface Opened {
  readonly store: Store
  end(): unknown
}

async function load<Client>(name: keyof typeof LEAST_CLIENTS): Promise<Client> {
  return require(join(await fetchPackages('least-clients', LEAST_CLIENTS), 'node_modules', name))
}

async function openIoredis(url: string, name: 'ioredis' | 'iovalkey' = 'ioredis'): Promise<Opened> {
  const { Redis } = await load<typeof Ioredis>(name)
  const client = new Redis(url, { autoResendUnfulfilledCommands: false })
  return { store: redisStore(client), end: () => client.disconnect() }
}

async function openNodeRedis(url: string): Promise<Opened> {
  const { createClient } = await load<typeof NodeRedis>('redis')
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  return { store: redisStore(client), end: () => client.destroy() }
}

async function openNodeRedisCluster(url: string): Promise<Opened> {
  const { createCluster } = await load<typeof NodeRedis>('redis')
  const client = createCluster({ rootNodes: [{ url }], minimizeConnections: true })
  client.on('error', () => undefined)
  await client.connect()
  return { store: redisStore(client), end: () => client.destroy() }
}

async function openMemjs(url: string): Promise<Opened> {
  const { Client } = await load<typeof Memjs>('memjs')
  const client = Client.create(url)
  return { store: memcachedStore(client), end: () => client.close() }
}

async function openMysql2(uri: string): Promise<Opened> {
  const { createPool } = await load<typeof Mysql>('mysql2/promise' as 'mysql2')
  const pool = createPool({ uri })
  const store = mysqlStore(pool)
  await store.prepare()
  return { store, end: async () => store.close().then(() => pool.end()) }
}

async function openPg(connectionString: string): Promise<Opened> {
  const { Pool } = await load<typeof Pg>('pg')
  const pool = new Pool({ connectionString })
  const store = postgresStore(pool)
  await store.prepare()
  return { store, end: async () => store.close().then(() => pool.end()) }
}

const startCluster = async () => {
  const cluster = await startRedisCluster()
  const [{ host, port }] = cluster.nodes as [(typeof cluster.nodes)[number]]
  return { url: `redis://${host}:${port}`, stop: () => cluster.stop() }
}

test.each([
  ['ioredis', startRedis, openIoredis],
  ['iovalkey', startRedis, (url: string) => openIoredis(url, 'iovalkey')],
  ['redis', startRedis, openNodeRedis],
  ['redis on a Cluster', startCluster, openNodeRedisCluster],
  ['memjs', startMemcached, openMemjs],
  ['mysql2', startMariadb, openMysql2],
  ['pg', startPostgres, openPg],
])('a store decides through the least version of %s that the docs name', async (_name, start, open) => {
  const server = await start()
  try {
    const { store, end } = await open(server.url)
    const limiter = createLimiter({ limit: 3, window: '1h', key: String, store, onStoreError: 'deny' })
    const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.charge('ada')))
    const seen = decisions.map(({ allowed, source }) => `${allowed} by ${source}`)
    expect(seen).toEqual([...Array(3).fill('true by store'), ...Array(2).fill('false by store')])
    await end()
  } finally {
    await server.stop()
  }
})
