import { type Store, StoreError, slidingLog, tokenBucket } from 'headgate'
import type { CommandWords } from 'headgate/redis'
import { customRedisStore, redisStore } from 'headgate/redis'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { describeConformance } from './conformance.js'
import { DRIVERS } from './drivers.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
const BUCKET = tokenBucket({ capacity: 5, refill: 5, every: '1d' })

describeConformance('customRedisStore', () => redis.server.url, DRIVERS.text, 'sample')

describe('customRedisStore', () => {
  beforeEach(async () => {
    await redis.client.flushdb()
    await redis.client.script('FLUSH')
  })

  /** Creates a store, and records the commands that it sends. */
  function recordingStore(): { readonly store: Store; readonly sent: CommandWords[] } {
    const sent: CommandWords[] = []
    const store = customRedisStore({
      send(commands) {
        sent.push(...commands)
        return commands.map((words) => redis.client.call(...words))
      },
    })
    return { store, sent }
  }

  test('sends the text of a script once, and its digest from then on', async () => {
    const { store, sent } = recordingStore()
    for (let i = 0; i < 3; i++) await chargeStore(store, [[part('key', BUCKET)]])
    expect(sent.map(([name]) => name)).toEqual(['evalsha', 'eval', 'evalsha', 'evalsha'])
    expect(await remainingOf(store, BUCKET, ['key'])).toEqual([2])
  })

  test('shares its states with a redisStore on the same server', async () => {
    const { store } = recordingStore()
    const other = redisStore(redis.client)
    const log = slidingLog({ limit: 3, window: '1d' })
    for (const each of [store, other])
      await chargeStore(each, [[part('bucket', BUCKET, 2), part('log', log)]])
    for (const each of [store, other])
      expect([await remainingOf(each, BUCKET, ['bucket']), await remainingOf(each, log, ['log'])]).toEqual([
        [1],
        [1],
      ])
  })

  test.each([
    ['text', (words: CommandWords) => redis.client.call(...words)],
    ['bytes', (words: CommandWords) => redis.client.callBuffer(...words)],
  ])('decides, and keeps documents in any language, if replies arrive as %s', async (_, call) => {
    const store = customRedisStore({ send: (commands) => commands.map(call) })
    await chargeStore(store, [[part('key', BUCKET, 2)]])
    expect(await remainingOf(store, BUCKET, ['key'])).toEqual([3])
    expect(await store.documents?.replace('settings', '{"reason":"Größe 日本"}', undefined)).toBe(true)
    expect(await store.documents?.read([{ key: 'settings' }])).toMatchObject([
      { text: '{"reason":"Größe 日本"}' },
    ])
  })

  test('fails, and changes nothing, if a key is foreign or the server takes no writes', async () => {
    const { store } = recordingStore()
    await redis.client.lpush('list', 'item')
    const charges = [['list'], ['other']].map(([key = '']) => ({
      type: 'charge' as const,
      parts: [part(key, BUCKET)],
    }))
    expect(await store.apply(charges)).toMatchObject([
      { message: expect.stringContaining('a value that is not a state'), replied: true },
      { allowed: true },
    ])
    await redis.client.config('SET', 'maxmemory', '1')
    expect(await store.apply(charges.slice(1))).toMatchObject([
      { message: expect.stringMatching(/OOM/), replied: true },
    ])
    await redis.client.config('SET', 'maxmemory', '0')
    expect(await remainingOf(store, BUCKET, ['other'])).toEqual([4])
  })

  test('keeps what an error says of the command', async () => {
    const errors: readonly Error[] = [
      new StoreError('redis', 'not connected', { unsent: true }),
      new Error('LOADING Redis is loading the dataset in memory'),
      new Error('socket hang up'),
    ]
    const outcomes = await Promise.all(
      errors.map((error) =>
        customRedisStore({ send: (commands) => commands.map(() => Promise.reject(error)) }).apply([
          { type: 'charge', parts: [part('key', BUCKET)] },
        ]),
      ),
    )
    expect(outcomes.flat()).toMatchObject([
      { unsent: true, replied: false },
      { unsent: false, replied: true },
      { unsent: false, replied: false },
    ])
  })

  test('learns from the first rejection that a server has slots', async () => {
    const sent: CommandWords[] = []
    const store = customRedisStore({
      send(commands) {
        sent.push(...commands)
        return commands.map(async (words) => {
          const keys = words.slice(3, 3 + Number(words[2]))
          if (keys.length > 1) throw new Error("CROSSSLOT Keys in request don't hash to the same slot")
          return redis.client.call(...words)
        })
      },
    })
    const charges = ['a', 'b'].map((key) => [part(key, BUCKET)])
    expect(await chargeStore(store, charges)).toMatchObject([{ allowed: true }, { allowed: true }])
    expect(await remainingOf(store, BUCKET, ['a', 'b'])).toEqual([4, 4])
  })

  test.each([
    [{}, 'customRedisStore: send must be a function, got undefined.'],
    [{ send: 1 }, 'customRedisStore: send must be a function, got a number. Write send: (commands) =>'],
    [{ send: () => [], cluster: 1 }, 'customRedisStore: cluster must be true or false, got 1.'],
    [{ send: () => [], sends: 1 }, 'customRedisStore: there is no option "sends". Did you mean send?'],
  ])('rejects the options %j', (options, message) => {
    expect(() => customRedisStore(options as never)).toThrow(message)
  })
})
