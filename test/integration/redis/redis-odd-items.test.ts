import {
  createLimiter,
  fixedWindow,
  type Policy,
  type Store,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Reward } from 'headgate/store'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, refundStore } from '../../support/store-calls.js'
import { useRedis } from './use-redis.js'

const policy = fixedWindow({ limit: 5, window: LONG })
const unknown = { ...policy, spec: { kind: 'leaky-bucket' } } as unknown as Policy

const redis = useRedis()
let store: Store

beforeEach(async () => {
  await redis.client.flushdb()
  store = redisStore(redis.client)
})

test.each<[string, () => unknown, string]>([
  ['an invalid cost', () => chargeStore(store, [[part('bad', policy, Number.NaN)]]), 'cost'],
  ['a policy of an unknown kind', () => chargeStore(store, [[part('bad', unknown)]]), 'got "leaky-bucket"'],
  [
    'a refund of an unknown time',
    () => refundStore(store, [{ ...part('key-0', policy), takenAtMs: Number.NaN }]),
    'takenAtMs',
  ],
])(
  '%s is an error of its own, and leaves other charges of the same turn alone',
  async (_, spoilt, message) => {
    await chargeStore(store, [[part('paid', policy, 2)]])
    const good = ['key-0', 'key-1'].map((key) => chargeStore(store, [[part(key, policy)]]))
    const wrong = Promise.resolve(spoilt())
    const more = chargeStore(store, [[part('key-2', policy), part('key-3', policy)]])
    const refunded = refundStore(store, [{ ...part('paid', policy), takenAtMs: Date.now() }])
    await expect(wrong).rejects.toThrow(message)
    for (const call of [...good, more]) expect(await call).toMatchObject([{ allowed: true }])
    await refunded
    expect(await remainingOf(store, policy, ['key-0', 'key-1', 'key-2', 'key-3', 'paid'])).toEqual([
      4, 4, 4, 4, 4,
    ])
  },
)

test.each([
  ['NaN', [Number.NaN, Number.NaN, Number.NaN]],
  ['infinite', [1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
  ['far in the past', [1, 2 ** 60, -1e300]],
  ['far in the future', [1, 1e300, 1e300]],
])('bytes as long as a state leave the rest of a batch alone: numbers that are %s', async (_, numbers) => {
  const bucket = tokenBucket({ capacity: 5, refill: 5, every: LONG })
  await redis.client.set('odd', Buffer.from(Float64Array.from(numbers).buffer))
  await chargeStore(store, [[part('one', bucket, 3)], [part('another', bucket, 3)]])
  const rewards = ['one', 'odd', 'another'].map((key): Reward => {
    return { type: 'reward', key, policy: bucket, units: 1 }
  })
  const outcomes = await store.apply(rewards)
  expect([outcomes[0], outcomes[2]]).toMatchObject([{ type: 'reward' }, { type: 'reward' }])
  expect(await remainingOf(store, bucket, ['one', 'another'])).toEqual([3, 3])
})

test('policies created anew for each charge count as the same policy', async () => {
  await redis.client.script('FLUSH')
  await redis.client.config('RESETSTAT')
  const make = () => slidingWindow({ limit: 10, window: LONG })
  const [one, other] = [make(), make()]
  const verdicts = await chargeStore(
    store,
    [one, other, one].map((each) => [part('key', each, 5)]),
  )
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
  const limiter = createLimiter<string>({ store, policy: make, key: (value) => value, timeout: '10s' })
  const decisions = await Promise.all(Array.from({ length: 12 }, () => limiter.charge('somebody')))
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
  expect((await redis.client.info('commandstats')).match(/cmdstat_script\|load:calls=(\d+)/)?.[1]).toBe('1') // for all
})

describe('operations whose policy has no script', () => {
  const take = (key: string, by = policy) => ({ type: 'take', key, policy: by, units: 1 }) as const
  const calls = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0)

  test('leave the others of their batch in one call', async () => {
    await store.apply([take('first'), take('second', slidingWindow({ limit: 5, window: LONG }))]) // loads the script
    await redis.client.config('RESETSTAT')
    const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
    const outcomes = await store.apply(keys.map((key, i) => take(key, i % 10 === 3 ? unknown : policy)))
    expect(outcomes.map((outcome) => outcome instanceof Error)).toEqual(keys.map((_, i) => i % 10 === 3))
    expect(await calls()).toBe(1)
  })

  test('send nothing if there are no others', async () => {
    await redis.client.config('RESETSTAT')
    expect(await store.apply([take('key', unknown)])).toEqual([
      expect.objectContaining({ message: expect.stringContaining('got "leaky-bucket"') }),
    ])
    expect(await calls()).toBe(0)
  })
})

test.each([1, 2, 5, 1000])(
  'what is not a log is foreign to a log of %d, and is left alone',
  async (limit) => {
    const log = slidingLog({ limit, window: LONG })
    const items = [
      Buffer.alloc(8 * (limit + 1)),
      Buffer.alloc(8 * (limit + 1), 0x41),
      Buffer.alloc(24),
      Buffer.alloc(2_000_000, 1),
      Buffer.from('text'),
    ]
    for (const item of items) {
      await redis.client.set('key', item)
      const apart = part('apart', log)
      for (const parts of [[part('key', log)], [part('key', log), apart]])
        await expect(chargeStore(store, [parts])).rejects.toThrow(
          'the key key holds a value that is not a state',
        )
      expect((await redis.client.getBuffer('key'))?.equals(item)).toBe(true)
    }
    expect(await remainingOf(store, log, ['apart'])).toEqual([limit])
  },
)
