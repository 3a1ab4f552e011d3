import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { RedisCluster } from '../../support/servers/redis-cluster.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { useCluster } from './connect-cluster.js'

let cluster: RedisCluster
let program: Bundle

useCluster((started) => {
  cluster = started
})
beforeAll(async () => {
  program = await bundle(join(__dirname, 'store-process.ts'))
}, INSTALL_TIMEOUT_MS)
afterAll(() => program?.remove())

describeStoreExactness(
  {
    startProcess: () => fork(program.path, [cluster.nodes[0]?.url ?? '', 'ioredis Cluster']),
    capabilities: { atomicAcrossKeys: false },
  },
  'all',
)
