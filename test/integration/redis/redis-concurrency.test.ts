import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { describeConcurrency } from '../../support/concurrency-suite.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect, serverTimeMs } from './connect.js'
import { bytesOf, stateOf } from './rest.js'

/** The numbers in a state of concurrency; other policies' states are left alone. */
const WIDTH = 10

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = await connect(server.url)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

describeConcurrency('redisStore', async () => {
  await client.flushdb()
  return {
    store: redisStore(client),
    now: () => serverTimeMs(client),
    async age(slices) {
      for (const key of await client.keys('*')) {
        const state = stateOf((await client.getBuffer(key)) as Buffer)
        if (state.length !== WIDTH) continue
        await client.set(key, bytesOf([(state[0] as number) - slices, ...state.slice(1)]))
      }
    },
    shiftsStates: true,
  }
})
