import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.js'
import { until } from '../../support/servers/wait.js'
import { describeStoreConformance } from '../../support/store-conformance.js'
import { CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { connectCluster, flushAll, latestTimeMs } from './connect-cluster.js'

let cluster: RedisCluster
let client: Cluster

beforeAll(async () => {
  cluster = await startRedisCluster()
  client = await connectCluster(cluster)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await cluster?.stop()
})

describe.each(CLUSTER_DRIVERS)('with a client of %s', (_, open) => {
  const makeStore = clusterStores(() => cluster, open)

  describeStoreConformance('redisStore of a Cluster', {
    capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: false },
    async makeStore() {
      await flushAll(client)
      return {
        store: makeStore(),
        async advance(ms) {
          const untilMs = (await latestTimeMs(client)) + ms
          await pause(ms)
          await until(
            'the latest server clock has advanced',
            async () => (await latestTimeMs(client)) >= untilMs,
            { everyMs: 1 },
          )
        },
      }
    },
  })
})
