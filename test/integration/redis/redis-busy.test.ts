import { tokenBucket } from 'headgate'
import type { Redis } from 'ioredis'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect } from './connect.js'
import { DRIVERS } from './drivers.js'

const REPLY_DELAY_MS = 60
const DURATION_MS = 600
const PER_MS = 5
const policy = tokenBucket({ capacity: 10, refill: 10, every: '1d' })

let server: RedisServer
let proxy: FaultyProxy
let watcher: Redis

beforeAll(async () => {
  server = await startRedis({ own: true })
  const { hostname, port } = new URL(server.url)
  proxy = await startProxy({ host: hostname, port: Number(port) })
  watcher = await connect(server.url)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  watcher?.disconnect()
  await proxy?.stop()
  await server?.stop()
})

async function scriptCalls(): Promise<number> {
  const stats = await watcher.info('commandstats')
  return Array.from(stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)).reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  )
}

// If a batch left in each turn of the event loop, there would be about 400.
test.each([
  ['ioredis 6', 150], // about 110: two leave every 10 ms
  ['redis 6', 220], // about 170: three leave every 10 ms
] as const)(
  'batches grow with the time that Redis takes, so that a busy server gets fewer of them: %s',
  async (driver, maxCalls) => {
    const { makeStore, end } = await DRIVERS[driver](`redis://${proxy.url}`)
    const store = makeStore()
    await chargeOne(store, part(`first-${driver}`, policy))
    proxy.behave({ replyDelayMs: REPLY_DELAY_MS })
    const before = await scriptCalls()
    const startMs = performance.now()
    const verdicts: Promise<unknown>[] = []
    // Requests arrive evenly, whatever the server does.
    for (let dueMs = 0; dueMs < DURATION_MS; dueMs = performance.now() - startMs) {
      while (verdicts.length < PER_MS * dueMs)
        verdicts.push(chargeOne(store, part(`${driver}-${verdicts.length}`, policy)))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await Promise.all(verdicts)
    const calls = (await scriptCalls()) - before
    end()
    proxy.behave({})
    expect(verdicts.length).toBeGreaterThan(100)
    expect(calls).toBeLessThan(maxCalls)
  },
)
