import { setTimeout as pause } from 'node:timers/promises'
import slotOf from 'cluster-key-slot'
import { type Charge, type Store, StoreError } from 'headgate'
import { Cluster, type ClusterOptions } from 'ioredis'
import type { ClusterNode, RedisCluster } from '../../support/servers/redis-cluster.js'
import { until } from '../../support/servers/wait.js'
import { serverTimeMs } from './kit.js'

/** Connects a client as the docs advise, and waits until it is ready. */
export async function connectCluster(
  cluster: RedisCluster,
  options: Omit<ClusterOptions, 'redisOptions'> = {},
): Promise<Cluster> {
  const client = new Cluster(addressesOf(cluster), { retryDelayOnFailover: 0, ...options })
  client.on('error', () => undefined) // while nodes are away, connecting fails
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

/** Keys called name-0, name-1 and so on, each in a slot of its own, and each on another node than the one before. */
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

/** What a call was rejected with, which must be a StoreError. */
export async function rejection(call: unknown): Promise<StoreError> {
  const reason = await Promise.resolve(call).then(
    () => 'it was not rejected',
    (error: unknown) => error,
  )
  expect(reason).toBeInstanceOf(StoreError)
  expect(reason).toMatchObject({ name: 'StoreError', store: 'redis' })
  return reason as StoreError
}

/** How long a call takes, whether it is rejected or not. */
export async function timeOf(call: unknown): Promise<number> {
  const startedMs = performance.now()
  await Promise.resolve(call).catch(() => undefined)
  return performance.now() - startedMs
}

/** What callers got that charge one after the other. */
export interface Load {
  readonly answered: number
  /** How often the charge at this place in the list was allowed. */
  readonly allowed: readonly number[]
  readonly errors: readonly unknown[]
  /** Waits until the callers have got so many more answers. */
  goesOn(answers?: number): Promise<void>
  end(): Promise<void>
}

/** Starts 100 callers, each of which charges one of the charges over and over. */
export function startLoad(store: Store, charges: readonly Charge[]): Load {
  const load = { answered: 0, allowed: charges.map(() => 0), errors: [] as unknown[] }
  let isDone = false
  const callers = Array.from({ length: 100 }, async (_, i) => {
    const at = i % charges.length
    while (!isDone) {
      try {
        const [verdict] = await store.charge([charges[at] as Charge])
        load.allowed[at] = (load.allowed[at] ?? 0) + Number(verdict?.allowed)
      } catch (error) {
        load.errors.push(error)
      }
      load.answered++
      await pause(1) // so that others on this machine have a share of it
    }
  })
  return Object.assign(load, {
    async goesOn(answers = 500) {
      const enough = load.answered + answers
      await until('the load goes on', () => load.answered > enough)
    },
    async end() {
      isDone = true
      await Promise.all(callers)
    },
  })
}
