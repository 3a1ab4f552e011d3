import { join } from 'node:path'
import { createLimiter, redisStore } from 'headgate'
import type { Redis } from 'ioredis'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect, serverTimeMs } from './kit.js'
import { type Counts, LIMIT, limiterOptions, type Order } from './lease-child.js'

const PROCESSES = 4
const CALLERS = 50

let server: RedisServer
let client: Redis
let children: Children

beforeAll(async () => {
  server = await startRedis()
  client = await connect(server.url)
  children = await startChildren(join(__dirname, 'lease-child.ts'), PROCESSES, [server.url])
  await chargeInAll({ policy: 'fixedWindow', each: 0, forMs: 0 }) // all are there
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await children?.end()
  client?.disconnect()
  await server?.stop()
})

/** Has all processes charge one key at the same time. */
async function chargeInAll(order: Omit<Order, 'callers'>): Promise<Counts> {
  const counts = await children.ask<Counts>((): Order => ({ ...order, callers: CALLERS }))
  const sum = (name: keyof Counts) => counts.reduce((total, count) => total + count[name], 0)
  return { allowed: sum('allowed'), denied: sum('denied'), here: sum('here') }
}

/** What a limit has left, when nobody holds any of it. */
async function remainingOf(policy: Order['policy']): Promise<number> {
  const limiter = createLimiter({ ...limiterOptions(policy), store: redisStore(client) })
  return (await limiter.peek(undefined)).remaining
}

test.each(['slidingWindow', 'fixedWindow'] as const)(
  'four processes that lease never take more than the limit, most of it without the store, and give back the rest: %s',
  async (policy) => {
    const { allowed, denied, here } = await chargeInAll({ policy, each: 60, forMs: 10_000 })
    expect(allowed + denied).toBe(PROCESSES * CALLERS * 60)
    expect(allowed + (await remainingOf(policy))).toBe(LIMIT)
    expect(allowed).toBeGreaterThan((LIMIT * 15) / 16)
    expect(here).toBeGreaterThan(LIMIT)
  },
)

test('of a slow bucket they take no more than the limit, and lose nothing once an eighth of it is missing', async () => {
  const { allowed } = await chargeInAll({ policy: 'tokenBucket', each: 60, forMs: 10_000 })
  const used = allowed + (await remainingOf('tokenBucket'))
  expect(used).toBeLessThanOrEqual(LIMIT)
  expect(used).toBeGreaterThan((LIMIT * 13) / 16)
})

test('for as long as they press, they never take more than a bucket has, and nearly all of it', async () => {
  const sinceMs = await serverTimeMs(client)
  const { allowed, denied } = await chargeInAll({ policy: 'fastBucket', each: 1e9, forMs: 700 })
  const most = LIMIT + Math.floor(((await serverTimeMs(client)) - sinceMs) / (2000 / LIMIT))
  expect(denied).toBeGreaterThan(0)
  expect(allowed).toBeLessThanOrEqual(most)
  expect(allowed).toBeGreaterThan(most / 2) // what comes in before the first charge and after the last is nobody's
})
