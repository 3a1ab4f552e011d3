import { setTimeout as pause } from 'node:timers/promises'
import { consecutive, createLimiter, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { ChargeResult, Outcome } from 'headgate/store'
import { memjsTransport } from '../../../src/stores/memcached/connection.js'
import { counterStrategy } from '../../../src/stores/memcached/counter-strategy.js'
import { decrement, type MemcachedRequest } from '../../../src/stores/memcached/protocol.js'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  chargeOne,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { chargeStore, forgetStore, takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { failureOf } from './failures.js'

const { open, closeAll } = connections()
const COUNTING: readonly (readonly [string, (limit: number) => Policy])[] = [
  ['fixedWindow', (limit) => fixedWindow({ limit, window: LONG })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: LONG })],
  ['consecutive', (limit) => consecutive({ limit })],
]
const bucket = tokenBucket({ capacity: 5, refill: 5, every: LONG })
let server: MemcachedServer

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)
afterAll(() => server?.stop())
beforeEach(() => server.command('flush_all'))

/** As several processes. */
const storesOf = (count: number) => Array.from({ length: count }, () => memcachedStore(open(server.url)))

test('a bucket cached before a restart is not mistaken for one written after it', async () => {
  const [first, second] = storesOf(2)
  if (!first || !second) throw new Error('none')
  await takeOne(first, 'key', bucket, 1)
  await server.restart()
  await pause(50)
  expect((await takeOne(second, 'key', bucket, 5)).allowed).toBe(true)
  expect((await takeOne(first, 'key', bucket, 4)).allowed).toBe(false)
})

test.each(COUNTING)('processes that create a counter at the same time all count: %s', async (_, policyOf) => {
  const stores = storesOf(6)
  const policy = policyOf(100)
  const keys = Array.from({ length: 100 }, (_each, i) => `key-${i}`)
  // A few keys at a time: the store drops a connection that has no reply within a second, and a busy machine
  // takes longer for the replies to thousands of requests.
  for (let i = 0; i < keys.length; i += 10) {
    const some = keys.slice(i, i + 10)
    await Promise.all(some.flatMap((key) => stores.map((store) => chargeStore(store, [[part(key, policy)]]))))
  }
  expect(new Set(await remainingOf(stores[0] as (typeof stores)[number], policy, keys))).toEqual(
    new Set([94]),
  )
})

test.each(COUNTING)(
  'concurrent counts and refunds keep every figure within its limits: %s',
  async (_, policyOf) => {
    const stores = storesOf(3)
    const policy = policyOf(50)
    await takeOne(stores[0] as (typeof stores)[number], 'hot', policy)
    const remaining: number[] = []
    const callers = stores.flatMap((store) =>
      Array.from({ length: 50 }, async () => {
        for (let i = 0; i < 10; i++)
          remaining.push(...(await chargeOne(store, part('hot', policy))).parts.map((p) => p.remaining))
      }),
    )
    await Promise.all(callers)
    expect([Math.min(...remaining) >= 0, Math.max(...remaining) <= 50]).toEqual([true, true])
  },
)

test.each(COUNTING)(
  'limiters of several processes never need their fallback stores for a hot key: %s',
  async (_, policyOf) => {
    const policy = policyOf(50)
    const limiters = storesOf(3).map((store) =>
      createLimiter<string>({ store, policy, key: (it) => it, timeout: 5000 }),
    )
    const decisions = limiters.flatMap((limiter) =>
      Array.from({ length: 50 }, async () => {
        const all = []
        for (let i = 0; i < 10; i++) all.push(await limiter.charge('hot'))
        return all
      }),
    )
    const all = (await Promise.all(decisions)).flat()
    expect({
      local: all.filter(({ source }) => source === 'local').length,
      allowed: all.filter(({ allowed }) => allowed).length,
    }).toEqual({ local: 0, allowed: 50 })
  },
)

test.each(COUNTING)('a denial arrives after the server has its units back: %s', async (_, policyOf) => {
  const transport = memjsTransport(open(server.url))
  const { opcode } = decrement('key', 1)
  let refunds = 0
  const strategy = counterStrategy({
    ...transport,
    async request(routingKey: string, sent: MemcachedRequest) {
      const reply = await transport.request(routingKey, sent)
      if (sent.opcode === opcode) refunds++
      return reply
    },
  })
  const policy = policyOf(5)
  const charge = { type: 'charge', parts: [part('key', policy, 3)] } as const
  const charges = { key: 'key', policy, operations: [charge, charge] }
  const verdicts = new Promise<readonly Outcome[]>((resolve) => strategy(charge)(charges, resolve))
  expect([allowedCount((await verdicts) as readonly ChargeResult[]), refunds]).toEqual([1, 1])
})

test('a bucket that the server has no memory to write stays unchanged', async () => {
  const small = await startMemcached({ args: ['-m', '2', '-M'] })
  try {
    const store = memcachedStore(open(small.url))
    await takeOne(store, 'held', bucket, 2)
    const sets = [5, 25, 40, 50, 80].flatMap((length) =>
      Array.from(
        { length: 12_000 },
        (_, i) => `set fill-${length}-${i} 0 0 ${length} noreply\r\n${'x'.repeat(length)}`,
      ),
    )
    await small.command([...sets, 'version'].join('\r\n'))
    await failureOf(chargeStore(store, [[part('held', bucket)]]))
    expect(await remainingOf(store, bucket, ['held'])).toEqual([3])
  } finally {
    await small.stop()
  }
})

test('1,000 keys of a sliding window are forgotten in one call', async () => {
  const store = memcachedStore(open(server.url))
  const policy = slidingWindow({ limit: 5, window: LONG })
  const keys = Array.from({ length: 1000 }, (_, i) => `key-${i}`)
  await chargeStore(
    store,
    keys.map((key) => [part(key, policy)]),
  )
  await forgetStore(store, keyedPolicies(policy, ...keys))
  expect(await remainingOf(store, policy, keys.slice(0, 3))).toEqual([5, 5, 5])
})

test.each(COUNTING)(
  'a batch whose sum exceeds the safe integers is counted exactly: %s',
  async (_, policyOf) => {
    const most = Number.MAX_SAFE_INTEGER
    const policy = policyOf(most)
    const [store] = storesOf(1)
    if (!store) throw new Error('none')
    await takeOne(store, 'key', policy, most - 1)
    const verdicts = await chargeStore(
      store,
      [most, most - 1, 1, 1, 1].map((cost) => [part('key', policy, cost)]),
    )
    expect(allowedCount(verdicts)).toBe(1)
  },
)
