import type { Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis5'
import type { RedisCluster } from '../../support/servers/redis-cluster.js'
import { addressesOf, connectCluster } from './connect-cluster.js'
import { loadGlide } from './glide.js'

/** A connected client of some driver, and how to make stores over it. */
interface Opened {
  readonly makeStore: () => Store
  end(): unknown
}

type Open = (cluster: RedisCluster) => Promise<Opened>

const rootNodesOf = (cluster: RedisCluster) =>
  addressesOf(cluster).map(({ host, port }) => ({ url: `redis://${host}:${port}` }))

/** As the docs advise; and the tests do not wait long for a node that comes back. */
const defaults = { socket: { reconnectStrategy: () => 50 } }

const openIoredis: Open = async (cluster) => {
  const client = await connectCluster(cluster)
  return { makeStore: () => redisStore(client), end: () => client.disconnect() }
}

const openNodeRedis: Open = async (cluster) => {
  const client = createCluster({ rootNodes: rootNodesOf(cluster), defaults })
  client.on('error', () => undefined) // while nodes are down, connecting fails
  await client.connect()
  return { makeStore: () => redisStore(client), end: () => client.destroy() }
}

const openNodeRedis5: Open = async (cluster) => {
  const client = createCluster5({ rootNodes: rootNodesOf(cluster), defaults })
  client.on('error', () => undefined)
  await client.connect()
  return { makeStore: () => redisStore(client), end: () => client.destroy() }
}

const openGlide: Open = async (cluster) => {
  const { GlideClusterClient } = await loadGlide()
  const addresses = addressesOf(cluster)
  const client = await GlideClusterClient.createClient({ addresses, requestTimeout: 5000 })
  return { makeStore: () => redisStore(client), end: () => client.close() }
}

/** The drivers whose clients of a Cluster the store takes; tests look on with one of ioredis. */
export const CLUSTER_DRIVERS: readonly (readonly [string, Open])[] = [
  ['ioredis 6', openIoredis],
  ['redis 6', openNodeRedis],
]

export const ALL_CLUSTER_DRIVERS: typeof CLUSTER_DRIVERS = [...CLUSTER_DRIVERS, ['redis 5', openNodeRedis5]]

/** Those that have only tests of the contract. */
export const CONFORMING_CLUSTER_DRIVERS: typeof CLUSTER_DRIVERS = [
  ...ALL_CLUSTER_DRIVERS,
  ['GLIDE', openGlide],
]

/** Opens a client for the tests of a describe block. Returns a function that makes stores over it. */
export function clusterStores(cluster: () => RedisCluster, open: Open): () => Store {
  let opened: Opened
  beforeAll(async () => {
    opened = await open(cluster())
  })
  afterAll(() => opened?.end())
  return () => opened.makeStore()
}
