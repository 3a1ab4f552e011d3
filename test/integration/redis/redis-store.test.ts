import { fixedWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { describeConformance } from './conformance.js'
import { DRIVERS } from './drivers.js'
import { useRedis } from './use-redis.js'

const CONFORMING = [
  ['ioredis 6', 'all'],
  ['redis 6', 'sample'],
] as const

const redis = useRedis()

describe.each(CONFORMING)('with a client of %s', (driver, extent) => {
  describeConformance('redisStore', () => redis.server.url, DRIVERS[driver], extent)
})

describe('redisStore', () => {
  beforeEach(() => redis.client.flushdb())

  test('is called redis', () => {
    expect(redisStore(redis.client).name).toBe('redis')
  })

  test.each(LONG_POLICIES)(
    'decides 5,000 charges of one key in one tick exactly, with a %s',
    async (_, policyOf) => {
      const store = redisStore(redis.client)
      const policy = policyOf(3000)
      const calls = Array.from({ length: 5000 }, () => chargeStore(store, [[part('hot', policy)]]))
      expect(allowedCount((await Promise.all(calls)).flat())).toBe(3000)
      expect(await remainingOf(store, policy, ['hot'])).toEqual([0])
    },
  )

  test('charges, refunds and forgets 10,000 keys in one call exactly once each', async () => {
    const store = redisStore(redis.client)
    const policy = fixedWindow({ limit: 5, window: LONG })
    const keys = Array.from({ length: 10_000 }, (_, i) => `key-${i}`)
    const verdicts = await chargeStore(
      store,
      keys.map((key) => [part(key, policy, 3)]),
    )
    expect(verdicts.filter(({ parts }) => parts[0]?.remaining !== 2)).toEqual([])
    await refundStore(
      store,
      keys.map((key, i) => ({ ...part(key, policy), takenAtMs: verdicts[i]?.atMs ?? 0 })),
    )
    expect(new Set(await remainingOf(store, policy, keys))).toEqual(new Set([3]))
    await forgetStore(store, keyedPolicies(policy, ...keys))
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('decides a batch of 300 charges of 40 keys each', async () => {
    const store = redisStore(redis.client)
    const policy = fixedWindow({ limit: 5, window: LONG })
    const charges = Array.from({ length: 300 }, (_, i) =>
      Array.from({ length: 40 }, (_each, j) => part(`key-${i}-${j}`, policy)),
    )
    expect(allowedCount(await chargeStore(store, charges))).toBe(300)
    expect(await redis.client.dbsize()).toBe(12_000)
  })

  test('writes nothing for denials and peeks', async () => {
    const store = redisStore(redis.client)
    const policy = tokenBucket({ capacity: 3, refill: 3, every: LONG })
    await chargeStore(store, [
      [part('new', policy, 0)],
      [part('new', policy, 4)],
      [part('a', policy), part('b', policy, 4)],
    ])
    expect(await redis.client.keys('*')).toEqual([])
  })
})
