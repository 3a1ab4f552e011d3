import { tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
const fast = tokenBucket({ capacity: 2 ** 37, refill: 2 ** 37, every: '1d' })
const slow = tokenBucket({ capacity: 1, refill: 1, every: '10y' })

test.each([
  ['alone', []],
  ['beside another', [part('other', fast)]],
])('units that take longer than numbers hold deny for a bounded time: charged %s', async (_how, others) => {
  const store = redisStore(redis.client)
  await redis.client.flushdb()
  await chargeOne(store, part('key', fast, fast.limit))
  for (let i = 0; i < 2; i++) {
    const { allowed, parts } = await chargeOne(store, part('key', slow), ...others)
    expect(allowed).toBe(false)
    expect(parts[0]?.retryAfterMs).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
    expect(parts[0]?.retryAfterMs).toBeGreaterThan(4e15)
  }
})
