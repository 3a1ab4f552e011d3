import { ban, createLimiter, fixedWindow, type Limiter, type LimiterOptions } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { blockIdentities, releaseIdentities } from '../../../src/dashboard/actions/adjust-clients.js'
import { lookUp } from '../../../src/dashboard/actions/lookup.js'
import type { Watched } from '../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import { until } from '../../support/servers/wait.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
const clients: Redis[] = []
let charging: Limiter<string>
let watched: Watched

const key = (id: string) => id
const hour = (limit: number) => fixedWindow({ limit, window: '1h' })

/** Creates the limiter `api` of a process, which has its own client of Redis. */
function limiterOf(limits: NonNullable<LimiterOptions<string>['limits']>): Limiter<string> {
  const client = new Redis(redis.server.url, { autoResendUnfulfilledCommands: false })
  clients.push(client)
  return createLimiter<string>({ name: 'api', store: redisStore(client), denyCache: false, limits })
}

beforeEach(async () => {
  await redis.client.flushdb()
  const day = ban(fixedWindow({ limit: 9, window: '1d' }), { after: 3, within: '5m', for: ['1m', '1h'] })
  charging = limiterOf([
    { name: 'hour', policy: hour(5), key },
    { name: 'day', policy: day, key },
  ])
  const limiter = limiterOf([{ name: 'hour', policy: hour(100), key }])
  watched = { name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection }
  for (let i = 0; i < 2; i++) await charging.charge('ada')
  await until('the limits are published', async () => (await lookUp(watched, 'ada')).standings.length === 2)
})
afterEach(async () => {
  await Promise.all([charging.close(), watched.limiter.close()])
  for (const client of clients.splice(0)) client.disconnect()
})

test('a dashboard shows the numbers of the processes that charge, not those of its own limiter', async () => {
  expect(await lookUp(watched, 'ada')).toMatchObject({
    longestBlockMs: 3_600_000,
    standings: [
      { limitName: 'hour', limit: 5, remaining: 3 },
      { limitName: 'day', limit: 9, remaining: 7 },
    ],
  })
})

test('a dashboard blocks and releases by limits that its own limiter does not have', async () => {
  await blockIdentities(watched, ['ada'], 1_800_000)
  const { standings } = await lookUp(watched, 'ada')
  const banned = standings.filter(({ bannedForMs }) => bannedForMs > 0)
  expect(new Set(banned.map(({ limitName }) => limitName))).toEqual(new Set(['day']))
  const { allowed, limitName, retryAfterMs } = await charging.charge('ada')
  expect([allowed, limitName, Math.round(retryAfterMs / 60_000)]).toEqual([false, 'day', 30])
  await releaseIdentities(watched, ['ada'])
  expect((await lookUp(watched, 'ada')).standings).toEqual([])
  expect((await charging.charge('ada')).parts.map(({ remaining }) => remaining)).toEqual([4, 8])
})
