import { createLimiter, fixedWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import type { RedisClient } from '../../../src/stores/redis/ioredis/client.js'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  chargeOne,
  keyedPolicies,
  part,
  remainingOf,
  takeOne,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { listenForWarnings } from '../../support/warnings.js'

const policy = fixedWindow({ limit: 5, window: LONG })
const MAKERS = [
  ['ioredis 6', (options: object) => new Redis(server.url, options)],
  ['ioredis 5', (options: object) => new Redis5(server.url, options)],
] as const

let server: RedisServer
let warnings: () => unknown[]

beforeAll(async () => {
  server = await startRedis()
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

beforeEach(async () => {
  warnings = listenForWarnings()
  await server.cli('FLUSHDB')
})

afterEach(() => jest.restoreAllMocks())

const QUIET = { autoResendUnfulfilledCommands: false, lazyConnect: true }

describe.each(MAKERS)('with a client of %s', (_, make) => {
  test.each(LONG_POLICIES)('charges, refunds and forgetting work: %s', async (_name, policyOf) => {
    const client = make(QUIET)
    try {
      await client.connect()
      const store = redisStore(client)
      const counted = policyOf(5)
      const verdicts = await Promise.all(
        Array.from({ length: 300 }, () => chargeOne(store, part('key', counted))),
      )
      expect(allowedCount(verdicts)).toBe(5)
      const taken = { ...part('key', counted, 2), takenAtMs: verdicts[0]?.atMs ?? 0 }
      await refundStore(store, [{ ...taken, resetAtMs: Number.POSITIVE_INFINITY }])
      expect(await remainingOf(store, counted, ['key'])).toEqual([2])
      await client.script('FLUSH')
      expect(await takeOne(store, 'key', counted)).toMatchObject({ allowed: true, remaining: 1 })
      await forgetStore(store, keyedPolicies(policy, 'key'))
      expect(await remainingOf(store, counted, ['key'])).toEqual([5])
    } finally {
      client.disconnect()
    }
  })

  test('a lazy client is connected by the first charges, however many they are', async () => {
    const client = make(QUIET)
    try {
      const store = redisStore(client)
      const calls = Array.from({ length: 1000 }, () => chargeStore(store, [[part('key', policy)]]))
      expect(allowedCount((await Promise.all(calls)).flat())).toBe(5)
    } finally {
      client.disconnect()
    }
  })

  test('the prefix of its keys is respected', async () => {
    const [plain, prefixed] = [make(QUIET), make({ ...QUIET, keyPrefix: 'app:' })]
    try {
      const store = redisStore(prefixed)
      const { atMs } = await chargeOne(store, part('a', policy, 3), part('b', policy, 1))
      await chargeStore(redisStore(plain), [[part('a', policy, 5)]])
      expect((await plain.keys('*')).sort()).toEqual(['a', 'app:a', 'app:b'])
      await refundStore(store, [{ ...part('a', policy, 1), takenAtMs: atMs }])
      expect(await remainingOf(store, policy, ['a', 'b'])).toEqual([3, 4])
      await forgetStore(store, keyedPolicies(policy, 'a', 'b'))
      expect(await plain.keys('*')).toEqual(['a'])
      expect(await remainingOf(redisStore(plain), policy, ['a'])).toEqual([0])
    } finally {
      for (const client of [plain, prefixed]) client.disconnect()
    }
  })

  test('automatic pipelining works', async () => {
    const client = make({ ...QUIET, enableAutoPipelining: true })
    try {
      await client.connect()
      const store = redisStore(client)
      const calls = Array.from({ length: 1000 }, () => chargeStore(store, [[part('key', policy)]]))
      expect(allowedCount((await Promise.all(calls)).flat())).toBe(5)
      await client.script('FLUSH')
      expect(await remainingOf(store, policy, ['key', 'other'])).toEqual([0, 5])
      await forgetStore(store, keyedPolicies(policy, 'key'))
      expect(await remainingOf(store, policy, ['key'])).toEqual([5])
    } finally {
      client.disconnect()
    }
  })

  test('closing leaves it usable', async () => {
    const client = make(QUIET)
    try {
      const store = redisStore(client)
      const limiter = createLimiter<string>({ store, policy, key: (value) => value })
      await limiter.charge('somebody')
      await limiter.close()
      await store.close?.()
      expect(await client.ping()).toBe('PONG')
    } finally {
      client.disconnect()
    }
  })

  test('a client that resends commands causes one warning', () => {
    for (let i = 0; i < 2; i++) redisStore(make({ lazyConnect: true }))
    expect(warnings()).toEqual(['HEADGATE_REDIS_RESENDS'])
  })

  test('a client that does not resend commands causes no warning', () => {
    redisStore(make(QUIET))
    expect(warnings()).toEqual([])
  })
})

const call = async () => undefined
const whole = { status: 'ready', options: {}, callBuffer: call, pipeline: call, on: call }

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 6379],
  ['an address', 'redis://127.0.0.1:6379'],
  ['a URL', new URL('redis://127.0.0.1:6379')],
  ['options', { host: '127.0.0.1', port: 6379 }],
  ['an empty object', {}],
  ['an array', []],
  ['the class', Redis],
  ['a promise of a client', Promise.resolve(whole)],
  ['a client of another kind', { isReady: true, sendCommand: call, eval: call, unlink: call }],
  ...Object.keys(whole).map((name): [string, unknown] => [
    `one without ${name}`,
    { ...whole, [name]: undefined },
  ]),
  ['one with options of null', { ...whole, options: null }],
])('%s instead of a client throws a TypeError with a hint', (_, wrong) => {
  expect(() => redisStore(wrong as RedisClient)).toThrow(TypeError)
  expect(() => redisStore(wrong as RedisClient)).toThrow(/redisStore: client .*new Redis\(url\)/)
})
