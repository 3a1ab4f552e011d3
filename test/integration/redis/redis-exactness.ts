import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { ExactnessSetup } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'

/** Processes of several drivers share the keys: what each of them sends is the same. */
const DRIVERS = ['ioredis 6', 'redis 6', 'text', 'redis 5']

/** Starts a process with a driver. `bundle` is a program to run, which takes the arguments. */
export type StartDriver = (bundle: string, url: string, i: number) => ChildProcess

const startNode: StartDriver = (program, url, i) =>
  fork(program, [url, DRIVERS[i % DRIVERS.length] as string])

/** Defines the tests of processes that share a Redis. */
export function describeRedisExactness(
  extent: Extent,
  load: Pick<ExactnessSetup, 'processes' | 'callers' | 'charges'>,
  start: StartDriver = startNode,
): void {
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

  let started = 0

  describeStoreExactness(
    {
      startProcess: () => start(program.path, server.url, started++),
      capabilities: { atomicAcrossKeys: true },
      ...load,
    },
    extent,
  )
}
