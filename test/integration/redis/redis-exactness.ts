import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'

/** Defines the tests of so many processes that share a Redis, each with so many callers. */
export function describeRedisExactness(extent: Extent, processes: number, callers: number): void {
  let server: RedisServer
  let program: Bundle

  beforeAll(async () => {
    server = await startRedis()
    program = await bundle(join(__dirname, 'store-process.ts'))
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await program?.remove()
    await server?.stop()
  })

  /** Processes of several drivers share the keys: what each of them sends is the same. */
  const DRIVERS = ['ioredis 6', 'redis 6', 'text', 'redis 5']
  let started = 0

  describeStoreExactness(
    {
      startProcess: () => fork(program.path, [server.url, DRIVERS[started++ % DRIVERS.length] as string]),
      capabilities: { atomicAcrossKeys: true },
      processes,
      callers,
      charges: 5,
    },
    extent,
  )
}
