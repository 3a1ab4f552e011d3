import { createLimiter, type Decision, fixedWindow, type Limiter, leased } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { connect } from './connect.js'

const LIMIT = 3200
const policy = fixedWindow({ limit: LIMIT, window: '1000d' }) // blocks of up to 200

const unreturned: Error[] = []

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

function limitersOn(names: readonly string[]): Limiter<unknown>[] {
  const onReturnFailed = (error: Error) => unreturned.push(error)
  const store = leased(redisStore(client), { processes: 1, hold: '10s', onReturnFailed })
  return names.map((name) => createLimiter({ name, policy, key: () => 'all', store, timeout: 5000 }))
}

/** Charges by 50 callers at once, 20 times each. */
async function chargeAtOnce(limiter: Limiter<unknown>): Promise<Decision[]> {
  const runCaller = async () => {
    const decisions: Decision[] = []
    for (let i = 0; i < 20; i++) decisions.push(await limiter.charge(undefined))
    return decisions
  }
  return (await Promise.all(Array.from({ length: 50 }, runCaller))).flat()
}

const leasedCount = (decisions: readonly Decision[]) =>
  decisions.filter(({ source }) => source === 'lease').length

test('limiters that share a leased store lease their own units, and closing one returns those of all', async () => {
  const [first, second] = limitersOn(['first', 'second']) as [Limiter<unknown>, Limiter<unknown>]
  const counts = await Promise.all([first, second].map(async (each) => leasedCount(await chargeAtOnce(each))))
  for (const count of counts) expect(count).toBeGreaterThan(500)
  await first.close()
  for (const limiter of [first, second]) expect((await limiter.peek(undefined)).remaining).toBe(LIMIT - 1000)
  expect(leasedCount(await chargeAtOnce(second))).toBeGreaterThan(500)
  await second.close()
  expect((await second.peek(undefined)).remaining).toBe(LIMIT - 2000)
})

test('units that a process holds are consumed while Redis is down', async () => {
  const [limiter] = limitersOn(['outage']) as [Limiter<unknown>]
  limiter.events.on('storeError', () => {})
  await chargeAtOnce(limiter)
  while ((await limiter.charge(undefined)).source === 'lease'); // until a new block is requested
  await limiter.charge(undefined)
  client.disconnect()
  const held = await Promise.all(Array.from({ length: 10 }, () => limiter.charge(undefined)))
  for (const decision of held) expect(decision).toMatchObject({ allowed: true, source: 'lease' })
  expect(await limiter.peek(undefined)).toMatchObject({ source: 'local' })
  expect(unreturned).toEqual([])
  await limiter.close()
  expect(unreturned).toMatchObject([{ message: expect.stringContaining('the client is not connected') }])
})
