import { setTimeout as pause } from 'node:timers/promises'
import { createLimiter, type Decision } from 'headgate'
import type { Cluster } from 'ioredis'
import { chargedParts } from '../../../src/limiter/decision.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import {
  type ClusterNode,
  type RedisCluster,
  startRedisCluster,
} from '../../support/servers/redis-cluster.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { connectCluster, masterOf } from './connect-cluster.js'

/** Long, since the machine may be busy: what is slow for that reason says nothing about servers. */
const TIMEOUT_MS = 3000
const CLIENTS = Array.from({ length: 30 }, (_, i) => `client-${i}`)

let cluster: RedisCluster
let watcher: Cluster

beforeAll(async () => {
  cluster = await startRedisCluster({ args: ['--cluster-require-full-coverage', 'no'] })
  watcher = await connectCluster(cluster)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  watcher?.disconnect()
  await cluster?.stop()
})

describe.each(CLUSTER_DRIVERS)('with a client of %s', (driver, open) => {
  const makeStore = clusterStores(() => cluster, open)

  test('a killed master keeps no charge from the others, though nobody replaces it', async () => {
    const lost = cluster.nodes[1] as ClusterNode
    const limiter = createLimiter({
      name: driver.replace(' ', '-'),
      limit: 1_000_000,
      window: '1h',
      key: (id: string) => id,
      store: makeStore(),
      timeout: `${TIMEOUT_MS}ms`,
    })
    limiter.events.on('storeError', () => undefined)
    const isOnLost = (decision: Decision) =>
      masterOf(watcher, chargedParts(decision)?.[0]?.key ?? '')?.endsWith(`:${lost.port}`)
    const first = await Promise.all(CLIENTS.map((id) => limiter.charge(id)))
    const theirs = CLIENTS.filter((_, i) => isOnLost(first[i] as Decision))
    const others = CLIENTS.filter((id) => !theirs.includes(id))
    expect(theirs.length).toBeGreaterThan(0)
    await lost.kill()
    const sources: string[] = []
    for (let round = 0; round < 60; round++) {
      const lostCharges = Promise.all(theirs.map((id) => limiter.charge(id)))
      const decisions = await Promise.all(others.map((id) => limiter.charge(id)))
      sources.push(...decisions.map(({ source }) => source))
      await Promise.race([lostCharges, pause(20)]) // so that failures come at different moments
    }
    expect(new Set(sources)).toEqual(new Set(['store']))
    expect(await limiter.health()).toMatchObject({
      state: 'open',
      cause: { server: lost.url.replace('redis://', '') },
    })
    await lost.restart()
    await cluster.converge()
    await limiter.close()
  })
})
