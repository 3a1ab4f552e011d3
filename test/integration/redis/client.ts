import { createLimiter, fixedWindow, type Policy } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  chargeOne,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { listenForWarnings } from '../../support/warnings.js'
import { driversOf } from './any-client.js'
import { NODE_REDIS, type NodeRedisOptions, nodeRedisConnections } from './node-redis.js'
import { causeOf, failureOf } from './outcomes.js'

const policy = fixedWindow({ limit: 5, window: LONG })

const QUIET = { autoResendUnfulfilledCommands: false, lazyConnect: true }

/** Makes clients that connect with their first command. */
const LAZY: readonly (readonly [string, (url: string, options: object) => Redis | Redis5])[] = [
  ['ioredis 6', (url, options) => new Redis(url, options)],
  ['ioredis 5', (url, options) => new Redis5(url, options)],
]

/** Defines the tests of clients of some versions of ioredis and of node-redis. */
export function describeClient(...versions: string[]): void {
  let server: RedisServer
  let warnings: () => unknown[]

  beforeAll(async () => {
    server = await startRedis({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  beforeEach(async () => {
    warnings = listenForWarnings()
    await server.cli('FLUSHALL')
  })

  afterEach(() => jest.restoreAllMocks())

  const isChosen = ([version]: readonly [string, unknown]) => versions.includes(version)

  describe.each(driversOf(versions))('with a client of $name', (driver) => {
    const { connected, endAll } = driver.connections(() => server)
    afterEach(endAll)

    test.each(LONG_POLICIES)('charges, refunds and forgetting work: %s', async (_name, policyOf) => {
      const client = await connected()
      const { store } = client
      const counted = policyOf(5)
      const verdicts = await Promise.all(
        Array.from({ length: 300 }, () => chargeOne(store, part('key', counted))),
      )
      expect(allowedCount(verdicts)).toBe(5)
      const taken = { ...part('key', counted, 2), takenAtMs: verdicts[0]?.atMs ?? 0 }
      await refundStore(store, [{ ...taken, resetAtMs: Number.POSITIVE_INFINITY }])
      expect(await remainingOf(store, counted, ['key'])).toEqual([2])
      await client.send('SCRIPT', 'FLUSH')
      expect(await takeOne(store, 'key', counted)).toMatchObject({ allowed: true, remaining: 1 })
      await forgetStore(store, keyedPolicies(policy, 'key'))
      expect(await remainingOf(store, counted, ['key'])).toEqual([5])
    })

    test('closing leaves it usable', async () => {
      const client = await connected()
      const { store } = client
      const limiter = createLimiter<string>({ store, policy, key: (value) => value })
      await limiter.charge('somebody')
      await limiter.close()
      await store.close?.()
      expect(await client.send('PING')).toBe('PONG')
    })

    if (driver.name !== 'redis 5')
      test('the prefix of its keys is respected', async () => {
        const { store } = await connected({ keyPrefix: 'app:' })
        const plain = (await connected()).store
        const { atMs } = await chargeOne(store, part('a', policy, 3), part('b', policy, 1))
        await chargeStore(plain, [[part('a', policy, 5)]])
        expect((await server.cli('KEYS', '*')).split('\n').sort()).toEqual(['a', 'app:a', 'app:b'])
        await refundStore(store, [{ ...part('a', policy, 1), takenAtMs: atMs }])
        expect(await remainingOf(store, policy, ['a', 'b'])).toEqual([3, 4])
        await forgetStore(store, keyedPolicies(policy, 'a', 'b'))
        expect(await server.cli('KEYS', '*')).toBe('a')
        expect(await remainingOf(plain, policy, ['a'])).toEqual([0])
      })
  })

  describe.each(LAZY.filter(isChosen))('with a client of %s, which connects by itself', (_, makeOn) => {
    const make = (options: object) => makeOn(server.url, options)

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

    test('a client that resends commands causes one warning', () => {
      for (let i = 0; i < 2; i++) redisStore(make({ lazyConnect: true }))
      expect(warnings()).toEqual(['HEADGATE_REDIS_RESENDS'])
    })

    test('a client that does not resend commands causes no warning', () => {
      redisStore(make(QUIET))
      expect(warnings()).toEqual([])
    })
  })

  describe.each(NODE_REDIS.filter(isChosen))(
    'with a client of %s, which an application connects',
    (_, make) => {
      const { create, connected, endAll } = nodeRedisConnections(() => server, make)
      afterEach(endAll)

      test.each<[string, NodeRedisOptions]>([
        ['RESP 2', { RESP: 2 }],
        ['RESP 3', { RESP: 3 }],
        ['strings as strings', { commandOptions: { typeMapping: { 36: String } } }],
        [
          'arrays as sets, numbers as strings',
          { RESP: 3, commandOptions: { typeMapping: { 42: Set, 58: String } } },
        ],
        ['commands in front of all others', { commandOptions: { asap: true } }],
      ])("whatever the user's own commands have, charges are decided: %s", async (_options, options) => {
        const { client, store } = await connected(options)
        const calls = Array.from({ length: 20 }, (_each, i) =>
          chargeStore(store, [[part('key', policy, 1 + (i % 2))]]),
        )
        const verdicts = (await Promise.all(calls)).flat()
        expect(verdicts.map(({ allowed }) => allowed)).toEqual(
          [true, true, true, ...Array(17).fill(false)].map((allowed, i) => allowed || i === 4),
        )
        await chargeStore(store, [[part('a', policy)], [part('b', policy), part('a', policy)]])
        expect(await remainingOf(store, policy, ['a', 'b'])).toEqual([3, 4])
        await client.sendCommand(['SET', 'foreign', 'text'])
        await expect(chargeOne(store, part('foreign', policy))).rejects.toThrow('foreign')
        const text = await client.sendCommand(['GET', 'foreign'])
        expect(text).toBe('text') // its own commands keep their options
      })

      test('a full queue rejects charges, and they take nothing', async () => {
        const { store } = await connected({ commandsQueueMaxLength: 10 })
        const policies = Array.from({ length: 20 }, (_each, i) => fixedWindow({ limit: i + 1, window: LONG }))
        await chargeStore(store, [[part('first', policies[0] as Policy)]]) // loads the script
        const calls = policies.map((one, i) => chargeStore(store, [[part(`key-${i}`, one)]])) // a group each
        const failed = (await Promise.allSettled(calls)).flatMap(({ status }, i) =>
          status === 'rejected' ? [i] : [],
        )
        expect(failed).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
        expect(causeOf(await failureOf(calls[10] as Promise<unknown>))).toContain('queue is full')
        expect(await server.cli('DBSIZE')).toBe('11')
      })

      test('a client without an error listener causes one warning at the first charge, as it would end the process', async () => {
        const bare = make(server.url, {})
        await bare.connect()
        try {
          const stores = [redisStore(bare), redisStore(bare)]
          expect(warnings()).toEqual([])
          for (const store of stores) await takeOne(store, 'key', policy)
          expect(warnings()).toEqual(['HEADGATE_REDIS_NO_ERROR_LISTENER'])
          expect(bare.listenerCount('error')).toBe(0)
        } finally {
          bare.destroy()
        }
      })

      test('a client with an error listener causes no warning', async () => {
        const { store } = await connected()
        await takeOne(store, 'key', policy)
        expect(warnings()).toEqual([])
      })

      test('stores that share a client share its listeners', async () => {
        const { client } = create()
        for (let i = 0; i < 20; i++) redisStore(client)
        expect(client.listenerCount('ready')).toBe(1)
      })
    },
  )
}
