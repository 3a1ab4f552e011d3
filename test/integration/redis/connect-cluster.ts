import slotOf from 'cluster-key-slot'
import { Cluster, type ClusterOptions } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import {
  type ClusterNode,
  type RedisCluster,
  startRedisCluster,
} from '../../support/servers/redis-cluster.js'
import { serverTimeMs } from './connect.js'

/**
 * Starts a Cluster for the tests of a file, or of a `describe`. Calls `take` with it and with a client of
 * it.
 */
export function useCluster(take: (cluster: RedisCluster, client: Cluster) => void): void {
  let cluster: RedisCluster | undefined
  let client: Cluster | undefined

  beforeAll(async () => {
    cluster = await startRedisCluster()
    client = await connectCluster(cluster)
    take(cluster, client)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    client?.disconnect()
    await cluster?.stop()
  })
}

/** Connects a client as the docs advise, and waits until it is ready. */
export async function connectCluster(
  cluster: RedisCluster,
  options: Omit<ClusterOptions, 'redisOptions'> = {},
): Promise<Cluster> {
  const client = new Cluster(addressesOf(cluster), { retryDelayOnFailover: 0, ...options })
  client.on('error', () => undefined) // while nodes are down, connecting fails
  await client.ping()
  return client
}

export function addressesOf({ nodes }: RedisCluster): { host: string; port: number }[] {
  return nodes.map(({ host, port }) => ({ host, port }))
}

/** Empties all masters. */
export async function flushAll(client: Cluster): Promise<void> {
  await Promise.all(client.nodes('master').map((node) => node.flushdb()))
}

/** How many keys there are on all masters. */
export async function countKeys(client: Cluster): Promise<number> {
  const sizes = await Promise.all(client.nodes('master').map((node) => node.dbsize()))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The clock that is ahead of the others, in milliseconds since the Unix epoch. */
export async function latestTimeMs(client: Cluster): Promise<number> {
  return Math.max(...(await Promise.all(client.nodes('master').map(serverTimeMs))))
}

/**
 * Keys called name-0, name-1 and so on, each in a slot of its own, and each on another node than the one
 * before.
 */
export function keysApart(client: Cluster, name: string, count: number): string[] {
  const masters = client.nodes('master').map(({ options }) => `${options.host}:${options.port}`)
  const keys: string[] = []
  for (let i = 0; keys.length < count; i++) {
    const key = `${name}-${i}`
    if (masterOf(client, key) === masters[keys.length % masters.length]) keys.push(key)
  }
  return keys
}

/** Two keys in different slots that one node serves. */
export function keysOfOneNode(client: Cluster, name: string): [string, string] {
  const [first = '', , , second = ''] = keysApart(client, name, 4)
  return [first, second]
}

/** Where the master of a key's slot listens, as the client knows it. */
export function masterOf(client: Cluster, key: string): string | undefined {
  return client.slots[slotOf(key)]?.[0]
}

/** The node of the cluster that is the master of a key's slot now. */
export function ownerOfKey(cluster: RedisCluster, key: string): Promise<ClusterNode> {
  return cluster.ownerOf(slotOf(key))
}
