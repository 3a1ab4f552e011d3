import { useUpstash } from '../integration/upstash/use-upstash.js'
import type { RuntimeName, StartOptions } from './runtimes.js'
import { expectSame, responsesIn } from './same-responses.js'
import type { Seen } from './traffic.js'
import { useDynamodb } from './use-dynamodb.js'
import { optionsFor } from './use-upstash.js'

/** The stores in `stores/` that runtimes other than Node.js have. */
type StoreName = 'memory' | 'durable-objects' | 'deno-kv' | 'redis' | 'node-redis' | 'upstash' | 'dynamodb'

/** Defines the tests that all of these give the responses of Node.js with Redis. */
export function describeSameResponses(pairs: readonly (readonly [RuntimeName, StoreName])[]): void {
  const upstash = useUpstash()
  const { redis } = upstash
  const dynamodb = pairs.some(([, store]) => store === 'dynamodb') ? useDynamodb() : undefined

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

  const optionsOf: Readonly<Record<StoreName, () => StartOptions>> = {
    memory: () => ({}),
    'durable-objects': () => ({ durableObjects: { LIMITS: 'LimitsObject' } }),
    'deno-kv': () => ({ env: { KV_PATH: ':memory:' }, args: ['--unstable-kv'] }),
    redis: () => ({ env: { REDIS_URL: redis.server.url } }),
    'node-redis': () => ({ env: { REDIS_URL: redis.server.url } }),
    upstash: () => optionsFor(upstash),
    dynamodb: () => ({ ...dynamodb?.options }),
  }

  test.each(pairs)('in %s with %s, all responses are those of Node.js with Redis', async (name, store) => {
    expectSame(await responsesIn(name, store, optionsOf[store]()), expected)
  })
}
