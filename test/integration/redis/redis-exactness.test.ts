import { join } from 'node:path'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect } from './connect.js'
import { type Counts, type Order, POLICIES } from './exactness-child.js'

const PROCESSES = 4
const CALLERS = 200
const EACH = 5

let server: RedisServer
let client: Redis
let children: Children

beforeAll(async () => {
  server = await startRedis()
  client = await connect(server.url)
  children = await startChildren(join(__dirname, 'exactness-child.ts'), PROCESSES, [server.url])
  await chargeInAll([], 0) // all are there
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await children?.end()
  client?.disconnect()
  await server?.stop()
})

beforeEach(() => client.flushdb())

/** Has all processes charge at the same time, every other one with the parts in reverse. */
async function chargeInAll(parts: Order['parts'], each = EACH): Promise<Counts> {
  const counts = await children.ask<Counts>((i): Order => {
    return { parts: i % 2 === 0 ? parts : parts.toReversed(), callers: CALLERS, each }
  })
  expect(counts.map(({ allowed, denied }) => allowed + denied)).toEqual(Array(PROCESSES).fill(CALLERS * each))
  const sum = (name: 'allowed' | 'denied') => counts.reduce((total, count) => total + count[name], 0)
  return { allowed: sum('allowed'), denied: sum('denied') }
}

const NAMES = Object.keys(POLICIES) as (keyof typeof POLICIES)[]

test.each(NAMES)('four processes of 200 callers take exactly the limit of one key: %s', async (policy) => {
  const counts = await chargeInAll([{ key: 'hot', policy, limit: 1000 }])
  expect(counts).toEqual({ allowed: 1000, denied: 3000 })
  expect(await remainingOf(redisStore(client), POLICIES[policy](1000), ['hot'])).toEqual([0])
})

test.each(NAMES.map((name, i) => [name, NAMES[(i + 1) % NAMES.length] as typeof name] as const))(
  'four processes of 200 callers take two keys with two policies each all or nothing: %s and %s',
  async (first, second) => {
    const parts = [
      { key: 'ip:first', policy: first, limit: 1400 },
      { key: 'ip:second', policy: second, limit: 1000 },
      { key: 'account:first', policy: first, limit: 1200 },
      { key: 'account:second', policy: second, limit: 1600 },
    ]
    expect(await chargeInAll(parts)).toEqual({ allowed: 1000, denied: 3000 })
    const store = redisStore(client)
    const left = parts.map(({ key, policy, limit }) => remainingOf(store, POLICIES[policy](limit), [key]))
    expect((await Promise.all(left)).flat()).toEqual([400, 0, 200, 600])
  },
)
