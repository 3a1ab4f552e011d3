import { useRedis } from '../integration/redis/use-redis.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { expectSame, responsesIn } from './same-responses.js'
import type { Seen } from './traffic.js'
import { useUpstash } from './use-upstash.js'

const redis = useRedis()
const upstash = useUpstash(redis)

beforeEach(() => redis.client.flushdb())

let expected: readonly Seen[]
beforeAll(async () => {
  expected = await responsesIn('Node.js', 'redis', { env: { REDIS_URL: redis.server.url } })
})

test('on Node.js with Redis, the requests meet each limit', () => {
  const counts: Record<string, number> = {}
  for (const { request, status } of expected) {
    const outcome = `${request.split(' ', 2).join(' ')} ${status}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  expect(counts).toEqual({
    'GET /search 200': 40,
    'GET /search 429': 39,
    'POST /orders 201': 20,
    'POST /orders 403': 13,
    'POST /orders 429': 32,
    'GET /codes/right 200': 12,
    'GET /codes/right 429': 11,
    'GET /codes/wrong 404': 18,
    'GET /codes/wrong 429': 15,
  })
})

const noOptions = () => ({})

/** Other runtimes, each with a store that it has. */
const OTHERS: readonly (readonly [RuntimeName, string, () => StartOptions])[] = [
  ['Node.js', 'memory', noOptions],
  ['workerd', 'memory', noOptions],
  ['workerd', 'durable-objects', () => ({ durableObjects: { LIMITS: 'LimitsObject' } })],
  ['workerd', 'upstash', () => upstash.options],
  ['workerd with nodejs_compat', 'memory', noOptions],
  ['workerd with nodejs_compat', 'upstash', () => upstash.options],
  ['edge-runtime', 'memory', noOptions],
  ['edge-runtime', 'upstash', () => upstash.options],
  ['Deno', 'memory', noOptions],
  ['Deno', 'deno-kv', () => ({ env: { KV_PATH: ':memory:' }, args: ['--unstable-kv'] })],
  ['Deno', 'upstash', () => upstash.options],
  ['Bun', 'memory', noOptions],
  ['Bun', 'redis', () => ({ env: { REDIS_URL: redis.server.url } })],
]

test.each(OTHERS)(
  'in %s with %s, all responses are those of Node.js with Redis',
  async (name, store, options) => {
    expectSame(await responsesIn(name, store, options()), expected)
  },
)
