import { fork } from 'node:child_process'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'

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

/** The tests whose processes start with these drivers in turn. */
function exactnessOf(...drivers: readonly string[]) {
  let started = 0
  return storeExactness({
    startProcess: () => fork(program.path, [server.url, drivers[started++ % drivers.length] as string]),
    capabilities: { atomicAcrossKeys: true },
    callers: 200,
    charges: 5,
  })
}

for (const { name, run } of exactnessOf('ioredis 6')) test(name, run)

for (const { name, run } of exactnessOf('redis 6', 'redis 5', 'redis 6', 'ioredis 6'))
  test(`with redis 6, redis 5 and ioredis 6, ${name}`, run)
