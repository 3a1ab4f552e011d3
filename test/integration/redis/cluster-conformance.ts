import { setTimeout as pause } from 'node:timers/promises'
import type { ConformanceSetup } from 'headgate/testing'
import type { Cluster } from 'ioredis'
import type { RedisCluster } from '../../support/servers/redis-cluster.js'
import { until } from '../../support/servers/wait.js'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'
import { CONFORMING_CLUSTER_DRIVERS, clusterStores } from './cluster-drivers.js'
import { flushAll, latestTimeMs, useCluster } from './connect-cluster.js'

/** Defines the tests of the store contract for clients of a Cluster: how many for which driver. */
export function describeClusterConformance(extents: Readonly<Record<string, Extent>>): void {
  let cluster: RedisCluster
  let client: Cluster

  useCluster((...started) => {
    ;[cluster, client] = started
  })

  async function advance(ms: number): Promise<void> {
    const untilMs = (await latestTimeMs(client)) + ms
    await pause(ms)
    const hasAdvanced = async () => (await latestTimeMs(client)) >= untilMs
    await until('the latest server clock has advanced', hasAdvanced, { everyMs: 1 })
  }

  const drivers = CONFORMING_CLUSTER_DRIVERS.filter(([driver]) => driver in extents)
  describe.each(drivers)('with a client of %s', (driver, open) => {
    const makeStore = clusterStores(() => cluster, open)
    const setup: ConformanceSetup = {
      capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: false },
      async makeStore() {
        await flushAll(client)
        return { store: makeStore(), advance }
      },
    }
    describeStoreConformance('redisStore of a Cluster', setup, extents[driver])
  })
}
