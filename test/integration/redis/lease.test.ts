import { join } from 'node:path'
import { createLimiter } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect, serverTimeMs } from './connect.js'
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
  await chargeInAll({ policy: 'fixedWindow', each: 0, forMs: 0 }) // waits until all are connected
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await children?.end()
  client?.disconnect()
  await server?.stop()
})

/** Charges one key in all processes at the same time. Returns the sums of their decisions. */
async function chargeInAll(order: Omit<Order, 'callers'>): Promise<Counts> {
  const counts = await children.ask<Counts>((): Order => ({ ...order, callers: CALLERS }))
  const sum = (name: keyof Counts) => counts.reduce((total, count) => total + count[name], 0)
  return { allowed: sum('allowed'), denied: sum('denied'), local: sum('local') }
}

/** Returns what a limit has left, once nobody holds any of it. */
async function remainingOf(policy: Order['policy']): Promise<number> {
  const limiter = createLimiter({ ...limiterOptions(policy), store: redisStore(client) })
  return (await limiter.peek(undefined)).remaining
}

test.each(['slidingWindow', 'fixedWindow'] as const)(
  'four processes with leases admit no more than the limit, mostly without the store, and return the rest: %s',
  async (policy) => {
    const { allowed, denied, local } = await chargeInAll({ policy, each: 60, forMs: 25_000 })
    expect(allowed + denied).toBe(PROCESSES * CALLERS * 60)
    expect(allowed + (await remainingOf(policy))).toBe(LIMIT)
    expect(allowed).toBeGreaterThan((LIMIT * 15) / 16)
    expect(local).toBeGreaterThan(LIMIT)
  },
)

test('processes with leases admit no more than the limit of a slow bucket, and lose under three sixteenths of it', async () => {
  const { allowed } = await chargeInAll({ policy: 'tokenBucket', each: 60, forMs: 25_000 })
  const used = allowed + (await remainingOf('tokenBucket'))
  expect(used).toBeLessThanOrEqual(LIMIT)
  expect(used).toBeGreaterThan((LIMIT * 13) / 16)
})

test('processes with leases under overload never admit more than a bucket has, and admit most of it', async () => {
  const sinceMs = await serverTimeMs(client)
  const { allowed, denied } = await chargeInAll({ policy: 'fastBucket', each: 1e9, forMs: 25_000 })
  const most = LIMIT + Math.floor(((await serverTimeMs(client)) - sinceMs) / (2000 / LIMIT))
  expect(denied).toBeGreaterThan(0)
  expect(allowed).toBeLessThanOrEqual(most)
  expect(allowed).toBeGreaterThan(most / 2) // refills before the first charge and after the last are not used
})
