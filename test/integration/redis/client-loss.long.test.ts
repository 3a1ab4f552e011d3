import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { redisStore } from 'headgate/redis'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { inRuntimes } from '../../runtimes/fetched.js'
import { chargingProcess } from '../../support/charging-processes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedisNode } from '../../support/servers/redis-node.js'
import { faultsIn } from '../../support/tally.js'
import { connect } from './connect.js'
import { glidePath } from './glide.js'
import { POLICY } from './loss-process.js'

let server: RedisServer
let program: Bundle

beforeAll(async () => {
  // A reply means that the charge is on disk.
  server = await startRedisNode('redis-aof', () => ['--appendonly', 'yes', '--appendfsync', 'always'])
  program = await bundle(join(__dirname, 'loss-process.ts'))
  await Promise.all([inRuntimes('.bin/bun'), glidePath()])
}, INSTALL_TIMEOUT_MS)
afterAll(async () => {
  await program?.remove()
  await server?.stop()
})

const DRIVERS = {
  Bun: async () =>
    fork(program.path, [server.url, 'Bun'], { execPath: await inRuntimes('.bin/bun'), execArgv: [] }),
  'Valkey GLIDE': async () => fork(program.path, [server.url, await glidePath()]),
}

const LOSSES = {
  'connections are cut': () => server.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  'the server is killed': async () => {
    await server.kill()
    await server.restart()
  },
} as const

/** Charges through a driver, loses something five times, and returns what was counted and what is known of it. */
async function countsOf(driver: keyof typeof DRIVERS, loss: keyof typeof LOSSES) {
  await server.cli('FLUSHALL')
  const charging = chargingProcess(await DRIVERS[driver]())
  await charging.reports(({ allowed }) => allowed > 0)
  for (let i = 0; i < 5; i++) {
    await pause(300)
    await LOSSES[loss]()
  }
  await pause(1500)
  const tally = await charging.end('stop')
  const client = await connect(server.url)
  const [left = 0] = await remainingOf(redisStore(client), POLICY, ['key'])
  client.disconnect()
  return { tally, counted: POLICY.limit - left }
}

const CASES = Object.keys(DRIVERS).flatMap((driver) => Object.keys(LOSSES).map((loss) => [driver, loss]))

test.each(CASES as [keyof typeof DRIVERS, keyof typeof LOSSES][])(
  'with %s, no charge is counted twice or lost when %s',
  async (driver, loss) => {
    const { tally, counted } = await countsOf(driver, loss)
    expect(tally.allowed).toBeGreaterThan(100)
    expect(faultsIn(tally, counted)).toEqual({ lost: 0, doubled: 0 })
  },
  60_000,
)
