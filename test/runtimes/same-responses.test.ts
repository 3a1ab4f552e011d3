import { useRedis } from '../integration/redis/use-redis.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { expectSame, responsesIn } from './same-responses.js'
import type { Seen } from './traffic.js'

const redis = useRedis()

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

/** The runtimes, each with a store that it has. */
const OTHERS: readonly [RuntimeName, string, StartOptions?][] = [
  ['Node.js', 'memory'],
  ['workerd', 'memory'],
  ['workerd with nodejs_compat', 'memory'],
  ['edge-runtime', 'memory'],
  ['Deno', 'memory'],
  ['Bun', 'memory'],
]

test.each(OTHERS)('in %s with %s, all responses are those of Node.js with Redis', async (...place) => {
  expectSame(await responsesIn(...place), expected)
})
