import { setTimeout as pause } from 'node:timers/promises'
import { ban, consecutive, fixedWindow, type Policy, type Store, slidingWindow, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { State } from 'headgate/store'
import type { Redis } from 'ioredis'
import { signatureOf } from '../../../src/policies/policy.js'
import { stateIn } from '../../../src/stores/redis/stored-state.js'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connect, serverTimeMs } from './connect.js'
import { atRest } from './rest.js'

const DAY_MS = 86_400_000

let server: RedisServer
let client: Redis
let store: Store

beforeAll(async () => {
  server = await startRedis()
  client = await connect(server.url)
  store = redisStore(client)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

beforeEach(() => client.flushdb())

/** By how much a key may outlive its state, as the docs say. */
const slackMs = ({ spec, windowMs }: Policy): number => {
  if (spec.kind === 'token-bucket') return windowMs / 16
  return spec.kind === 'sliding-window' ? windowMs / spec.slices : 0
}

/** Windows that divide evenly and that do not, and the longest and shortest ones that a test can check. */
const EXPIRING: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 7, every: '1h' }),
  tokenBucket({ capacity: 2, refill: 2, every: '10y' }),
  tokenBucket({ capacity: 3000, refill: 3000, every: '30s' }),
  slidingWindow({ limit: 5, window: 3_600_007, slices: 7 }),
  slidingWindow({ limit: 5, window: '10s', slices: 1 }),
  slidingWindow({ limit: 5, window: '30d', slices: 100 }),
  fixedWindow({ limit: 5, window: '1h' }),
  fixedWindow({ limit: 5, window: '10y' }),
  fixedWindow({ limit: 5, window: '1h', startsAt: 'first-request' }),
  fixedWindow({ limit: 5, window: '10y', startsAt: 'first-request' }),
]
const NAMED = EXPIRING.map((policy) => [signatureOf(policy), policy] as const)

describe.each(NAMED)('a key of %s', (_, policy) => {
  /** Takes what there is, one by one, and checks the expiry every time. */
  test.each([
    ['alone', [] as string[]],
    ['among others', ['other']],
  ])('expires when its state equals a fresh one, and soon after: charged %s', async (_how, others) => {
    const other = consecutive({ limit: 100 })
    for (let i = 0; i < Math.min(5, policy.limit); i++) {
      const { atMs, parts } = await chargeOne(
        store,
        part('key', policy),
        ...others.map((key) => part(key, other)),
      )
      const freshAtMs = atMs + (parts[0]?.resetAfterMs ?? 0)
      const expiresAtMs = await client.pexpiretime('key')
      expect(expiresAtMs).toBeGreaterThanOrEqual(freshAtMs)
      expect(expiresAtMs).toBeLessThanOrEqual(freshAtMs + slackMs(policy) + 1)
    }
  })

  test('keeps its expiry when a charge is denied or peeks', async () => {
    await takeOne(store, 'key', policy, policy.limit)
    await client.pexpire('key', DAY_MS)
    const marked = await client.pexpiretime('key')
    await takeOne(store, 'key', policy, 0)
    expect((await takeOne(store, 'key', policy, policy.limit)).allowed).toBe(false)
    await chargeOne(store, part('key', policy, 0), part('new', policy, policy.limit + 1))
    expect(await client.pexpiretime('key')).toBe(marked)
  })

  test('is fresh when all is refunded, and not before', async () => {
    const costs = [policy.limit - 1, 1]
    const receipts = []
    for (const cost of costs) receipts.push(await receiptOf(store, 'key', policy, cost))
    for (const receipt of receipts.toReversed()) {
      expect(await client.exists('key')).toBe(1)
      await refundStore(store, [receipt])
    }
    expect(await remainingOf(store, policy, ['key'])).toEqual([policy.limit])
    // A bucket keeps what was refilled meanwhile, which takes longer under a slower rate.
    if (policy.spec.kind !== 'token-bucket') expect(await client.exists('key')).toBe(0)
  })

  test('expires no later than before, and no earlier than it must, when a part is refunded', async () => {
    const receipt = await receiptOf(store, 'key', policy, policy.limit)
    const before = await client.pexpiretime('key')
    await refundStore(store, [{ ...receipt, cost: 1 }])
    const after = await client.pexpiretime('key')
    const { atMs, parts } = await chargeOne(store, part('key', policy, 0))
    expect(after).toBeLessThanOrEqual(before)
    expect(after).toBeGreaterThanOrEqual(Math.floor(atMs + (parts[0]?.resetAfterMs ?? 0)))
  })
})

test('a key of a consecutive policy never expires, and is gone when all is refunded', async () => {
  const policy = consecutive({ limit: 3 })
  const receipt = await receiptOf(store, 'key', policy, 2)
  expect(await client.pexpiretime('key')).toBe(-1)
  await refundStore(store, [{ ...receipt, cost: 1 }])
  expect(await client.pexpiretime('key')).toBe(-1)
  await takeOne(store, 'key', policy)
  await refundStore(store, [receipt])
  expect(await client.exists('key')).toBe(0)
})

describe('a ban that was made longer', () => {
  const base = fixedWindow({ limit: 3, window: '1s' })
  const short = ban(base, { after: 1, within: '1s', for: ['1s'] })
  const long = ban(base, { after: 1, within: '1s', for: ['1s', '1h'] })
  const alone: readonly Policy[] = []

  test.each([
    ['alone', alone],
    ['beside another limit', [consecutive({ limit: 100 })]],
  ])('is kept for as long as its next denial or charge says: charged %s', async (_how, others) => {
    const charge = (policy: Policy, cost: number) =>
      chargeOne(store, part('key', policy, cost), ...others.map((other) => part('other', other)))
    expect((await charge(short, 4)).allowed).toBe(false)
    expect(await client.pexpiretime('key')).toBeLessThan((await serverTimeMs(client)) + DAY_MS / 24)
    await until('the ban is over', async () => (await charge(long, 1)).allowed)
    expect(await client.pexpiretime('key')).toBeGreaterThan((await serverTimeMs(client)) + DAY_MS / 25)
    const again = await charge(long, 4)
    expect([again.allowed, again.parts[0]?.moreAfterMs]).toEqual([false, 3_600_000])
  })
})

type Reply = [[unknown, Buffer | null], [unknown, number]]

/** When a state is to expire: the rounded moment, after which the next one comes. */
const ROUNDED: readonly (readonly [Policy, (state: readonly number[]) => number, number])[] = [
  [
    tokenBucket({ capacity: 160, refill: 1, every: '1s' }),
    ([missing = 0, atMs = 0]) => Math.ceil((atMs + missing * 1000) / 10_000) * 10_000,
    0,
  ],
  [slidingWindow({ limit: 1000, window: '600ms', slices: 10 }), ([slice = 0]) => (slice + 11) * 60, 12],
  [fixedWindow({ limit: 1000, window: '70ms' }), ([, atMs = 0]) => Math.floor(atMs / 70) * 70 + 70, 12],
  [
    fixedWindow({ limit: 1000, window: '70ms', startsAt: 'first-request' }),
    ([, startsAtMs = 0]) => Math.ceil(startsAtMs + 70),
    12,
  ],
]

describe.each(ROUNDED.map(([policy, ...rest]) => [policy.spec.kind, policy, ...rest] as const))(
  'the expiry of a %s',
  (_, policy, roundedOf, pauseMs) => {
    /** Sets another expiry of the key, and takes one unit. Returns whether the store set its own again. */
    async function takeWith(setExpiry: () => Promise<unknown>): Promise<'left' | 'set' | 'gone'> {
      const before = await atRest(client, 'key')
      await setExpiry()
      const foreign = await client.pexpiretime('key')
      expect((await takeOne(store, 'key', policy)).allowed).toBe(true)
      const [[, bytes], [, expiresAtMs]] = (await client
        .multi()
        .getBuffer('key')
        .pexpiretime('key')
        .exec()) as Reply
      if (bytes === null) return 'gone' // the window ended just now
      const rounded = roundedOf(stateIn(bytes) as State)
      const doesMove = before === undefined || roundedOf(before) !== rounded
      expect(expiresAtMs).toBe(doesMove ? rounded : foreign)
      return doesMove ? 'set' : 'left'
    }

    test.each<[string, () => Promise<unknown>]>([
      ['moved far away', () => client.pexpire('key', DAY_MS)],
      ['removed', () => client.persist('key')],
    ])(
      'is left alone while the rounded moment stays, and set when it moves, even if it was %s',
      async (_how, setExpiry) => {
        const seen = { left: 0, set: 0, gone: 0 }
        while (seen.left < 4 || seen.set < 3) {
          seen[await takeWith(setExpiry)]++
          await pause(pauseMs)
        }
      },
    )
  },
)

describe('short-lived keys', () => {
  const SHORT: readonly Policy[] = [
    tokenBucket({ capacity: 5, refill: 5, every: '200ms' }),
    slidingWindow({ limit: 5, window: '200ms', slices: 4 }),
    fixedWindow({ limit: 5, window: '200ms' }),
    fixedWindow({ limit: 5, window: '200ms', startsAt: 'first-request' }),
    tokenBucket({ capacity: 1, refill: 10_000, every: '1s' }),
    slidingWindow({ limit: 5, window: '1ms', slices: 1 }),
    fixedWindow({ limit: 5, window: '1ms' }),
    fixedWindow({ limit: 5, window: '1ms', startsAt: 'first-request' }),
  ]
  test.each(SHORT.map((policy) => [signatureOf(policy), policy] as const))(
    'are gone soon after, and the key is fresh: %s',
    async (_, policy) => {
      const { atMs, parts } = await chargeOne(store, part('key', policy, policy.limit))
      const goneAtMs = atMs + (parts[0]?.resetAfterMs ?? 0) + slackMs(policy) + 1
      await until('the key is gone', async () => (await serverTimeMs(client)) > goneAtMs + 1, { everyMs: 5 })
      expect(await client.exists('key')).toBe(0)
      expect(await remainingOf(store, policy, ['key'])).toEqual([policy.limit])
      expect((await takeOne(store, 'key', policy, policy.limit)).allowed).toBe(true)
    },
  )

  test('are removed from memory without being read', async () => {
    const policy = tokenBucket({ capacity: 5, refill: 5, every: '200ms' })
    const keys = Array.from({ length: 1000 }, (_, i) => `key-${i}`)
    await chargeStore(
      store,
      keys.map((key) => [part(key, policy, 5)]),
    )
    await until('Redis has removed them', async () => (await client.dbsize()) === 0)
  })
})

test('a key of a ban is kept for as long as its escalation lasts, and no longer', async () => {
  const policy = ban(fixedWindow({ limit: 1, window: '1m', startsAt: 'first-request' }), {
    after: 1,
    within: '1m',
    for: ['10m', '2d'],
  })
  await takeOne(store, 'key', policy)
  const { atMs, parts } = await chargeOne(store, part('key', policy))
  expect(parts[0]).toMatchObject({ allowed: false, resetAfterMs: 600_000 + 2 * DAY_MS })
  expect(await client.pexpiretime('key')).toBe(Math.ceil(atMs + 600_000 + 2 * DAY_MS))
  await client.del('key')
  const { resetAfterMs } = await takeOne(
    store,
    'other',
    ban(slidingWindow({ limit: 1, window: '1d' }), {
      after: 2,
      within: '3d',
      for: '1m',
    }),
    2,
  )
  expect(resetAfterMs).toBe(3 * DAY_MS)
  expect(await client.pttl('other')).toBeGreaterThan(3 * DAY_MS - 1000)
})
