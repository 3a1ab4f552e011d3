import { fixedWindow, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { ChargeResult } from 'headgate/store'
import type { Redis } from 'ioredis'
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
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connect, dumpAll } from './connect.js'
import { ALL_DRIVERS, openedStore } from './drivers.js'
import { rejection } from './outcomes.js'

const policy = fixedWindow({ limit: 5, window: LONG })

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis({ own: true })
  client = await connect(server.url, { retryStrategy: () => 20 })
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

beforeEach(() => client.flushdb())

describe.each(ALL_DRIVERS)('with a client of %s,', (_driver, open) => {
  const opened = openedStore(() => server.url, open)

  describe('a script that the server does not know', () => {
    test.each(LONG_POLICIES)('is sent again within the same charge: %s', async (_, policyOf) => {
      const store = opened.makeStore()
      const lasting = policyOf(5)
      const { atMs } = await chargeOne(store, part('key', lasting, 2))
      await client.script('FLUSH')
      expect(await takeOne(store, 'key', lasting)).toMatchObject({ allowed: true, remaining: 2 })
      await client.script('FLUSH')
      await refundStore(store, [
        { ...part('key', lasting), takenAtMs: atMs, resetAtMs: Number.POSITIVE_INFINITY },
      ])
      expect(await remainingOf(store, lasting, ['key'])).toEqual([3])
    })

    test('does not let the operations of a batch overtake one another', async () => {
      const store = opened.makeStore()
      const key = { key: 'key', policy }
      const charge = (cost: number) => ({ type: 'charge', parts: [part('key', policy, cost)] }) as const
      const batch = [charge(5), { type: 'reward', ...key, units: 2 }, charge(2), charge(1)] as const
      const inOrder = [{ allowed: true }, { remaining: 2 }, { allowed: true }, { allowed: false }]
      await store.apply(batch) // the connection has loaded the scripts
      await client.script('FLUSH')
      await store.apply([{ type: 'forget', ...key }])
      const other = await connect(server.url)
      await redisStore(other).apply([{ type: 'reward', ...key, units: 1 }]) // the server knows one of them again
      other.disconnect()
      expect(await store.apply(batch)).toMatchObject(inOrder)
      await client.script('FLUSH')
      await store.apply([charge(1), { type: 'forget', ...key }])
      expect(await client.exists('key')).toBe(0)
    })

    test('fails no charge in flight, and none counts twice', async () => {
      const store = opened.makeStore()
      const large = slidingWindow({ limit: 3000, window: LONG })
      const other = await connect(server.url)
      let isDone = false
      let flushes = 0
      const flushing = (async () => {
        for (; !isDone; flushes++) await other.script('FLUSH')
      })()
      const verdicts: ChargeResult[] = []
      const callers = Array.from({ length: 200 }, async () => {
        for (let i = 0; i < 20; i++) verdicts.push(await chargeOne(store, part('hot', large)))
      })
      await Promise.all(callers).finally(() => {
        isDone = true
      })
      await flushing
      other.disconnect()
      expect(flushes).toBeGreaterThan(10)
      expect([verdicts.length, allowedCount(verdicts)]).toEqual([4000, 3000])
    })
  })

  describe('a key that holds something else', () => {
    test.each<[string, () => Promise<unknown>]>([
      ['a list', () => client.rpush('theirs', 'a', 'b')],
      ['a hash', () => client.hset('theirs', 'field', 'value')],
      ['a stream', () => client.xadd('theirs', '*', 'field', 'value')],
      ['a text', () => client.set('theirs', 'hello')],
      ['an empty text', () => client.set('theirs', '')],
      ['a count', () => client.set('theirs', '17')],
      ['a state of another version', () => client.set('theirs', Buffer.alloc(40))],
    ])('such as %s rejects only its own charges, and is left unchanged', async (_, put) => {
      await put()
      const store = opened.makeStore()
      await takeOne(store, 'ours', policy, 1)
      const before = await dumpAll(client)
      const batch = await Promise.allSettled([
        chargeStore(store, [[part('ours', policy, 1)]]),
        chargeStore(store, [[part('theirs', policy)]]),
        chargeStore(store, [[part('ours', policy), part('new', policy), part('theirs', policy)]]),
        chargeStore(store, [[part('theirs', policy, 0)]]),
        chargeStore(store, [[part('ours', policy, 4)]]),
        chargeStore(store, [[part('ours', policy, 3)]]),
      ])
      const allowed = batch.map((one) => (one.status === 'fulfilled' ? one.value[0]?.allowed : 'rejected'))
      expect(allowed).toEqual([true, 'rejected', 'rejected', 'rejected', false, true])
      for (const one of batch.filter(({ status }) => status === 'rejected')) {
        const { message } = await rejection(Promise.reject((one as PromiseRejectedResult).reason))
        expect(message).toContain('the key theirs holds a value that is not a state of its policy')
      }
      const [theirs, ours] = ['theirs', 'ours'].map((key) =>
        refundStore(store, [{ ...part(key, policy), takenAtMs: Date.now() }]),
      )
      await expect(theirs).rejects.toThrow('the key theirs holds a value that is not a state')
      await ours
      expect(await remainingOf(store, policy, ['ours', 'new'])).toEqual([1, 5])
      expect(await dumpAll(client)).toEqual({ ...before, ours: expect.any(String) })
      expect(await client.pttl('theirs')).toBe(-1)
    })
  })

  describe('a server that refuses', () => {
    const set = (name: string, value: string) => client.config('SET', name, value)
    test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
      ['OOM', () => set('maxmemory', '1'), () => set('maxmemory', '0')],
      ['READONLY', () => client.replicaof('127.0.0.1', 1), () => client.replicaof('NO', 'ONE')],
      [
        'NOPERM',
        () => client.acl('SETUSER', 'default', '-@scripting'),
        () => client.acl('SETUSER', 'default', '+@scripting'),
      ],
    ])(
      'with %s makes the charge reject with its reason, and nothing is half taken',
      async (code, begin, end) => {
        await set('maxmemory-policy', 'noeviction')
        const store = opened.makeStore()
        await takeOne(store, 'held', policy, 2)
        const before = await dumpAll(client)
        await begin()
        try {
          const batch = [
            chargeStore(store, [[part('held', policy)]]),
            chargeStore(store, [[part('a', policy), part('held', policy), part('b', policy)]]),
            chargeStore(store, [[part('a', policy)], [part('c', policy)]]),
            refundStore(store, [{ ...part('held', policy, 1), takenAtMs: Date.now() }]),
          ]
          for (const call of await Promise.allSettled(batch)) {
            expect(call.status).toBe('rejected')
            const { cause } = await rejection(Promise.reject((call as PromiseRejectedResult).reason))
            expect(cause).toBeInstanceOf(Error)
            expect((cause as Error).message).toContain(code)
          }
          expect(await dumpAll(client)).toEqual(before)
        } finally {
          await end()
        }
        expect(await takeOne(store, 'held', policy)).toMatchObject({ allowed: true, remaining: 2 })
      },
    )
  })

  describe('a server that shuts down', () => {
    test('fails the charges in flight and others at once, and answers again after a restart', async () => {
      const store = opened.makeStore()
      await takeOne(store, 'key', policy, 5)
      await server.kill('SIGSTOP')
      const onTheirWay = Promise.allSettled([
        chargeStore(store, [[part('key', policy, 0)]]),
        chargeStore(store, [[part('other', policy)]]),
      ])
      await new Promise(setImmediate)
      await server.kill('SIGKILL')
      for (const call of await onTheirWay) {
        expect(call.status).toBe('rejected')
        const { message } = await rejection(Promise.reject((call as PromiseRejectedResult).reason))
        expect(message).toContain('the connection was lost')
      }
      await until('the client knows', () => !opened.isReady())
      const refund = { ...part('key', policy), takenAtMs: Date.now() }
      for (const call of [
        chargeStore(store, [[part('key', policy)]]),
        refundStore(store, [refund]),
        forgetStore(store, keyedPolicies(policy, 'key')),
      ]) {
        expect((await rejection(call)).message).toContain('not connected')
      }
      await server.restart()
      await until('the client is back', () => opened.isReady() && client.status === 'ready')
      expect(await remainingOf(store, policy, ['key', 'other'])).toEqual([5, 5])
      expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: true, remaining: 4 })
    })
  })
})
