import type { Request } from 'express'
import fc from 'fast-check'
import {
  ban,
  consecutive,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  leased,
  memoryStore,
  type Policy,
  type RateLimitMiddleware,
  rateLimit,
  type Store,
  StoreError,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { type ChargeResult, customStore, type Operation, type Outcome, type Refund } from 'headgate/store'
import { DenialCache, denialCacheOf } from '../../../src/pipe/denial-cache.js'
import { type Pipe, request } from '../../../src/pipe/pipe.js'
import { RemotePipe } from '../../../src/pipe/remote-pipe.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'

interface Subject {
  readonly user: string
  readonly cost?: number
}

/**
 * A store that answers with promises, as a remote one does, and counts its charges. Its clock is that of
 * the fake timers.
 */
function remoteStore(): Store & { charges: number; isDown: boolean } {
  const memory = memoryStore({ clock: () => Date.now() })
  const store = customStore({
    name: 'remote',
    charges: 0,
    isDown: false,
    async apply(operations: readonly Operation[]) {
      const charges = operations.filter(({ type }) => type === 'charge').length
      store.charges += charges
      if (store.isDown && charges > 0) throw new Error('connection lost')
      return memory.apply(operations)
    },
  })
  return store
}

/** Whether a charge was denied. */
const isDenial = (outcome: Outcome | undefined) =>
  !(outcome instanceof Error) && outcome?.type === 'charge' && !outcome.allowed

type Options = Partial<LimiterOptions<Subject>>

function limiterOn(store: Store, options: Options) {
  const key = ({ user }: Subject) => user
  return createLimiter<Subject>({ store, name: 'api', ...('limits' in options ? {} : { key }), ...options })
}

const bob = { user: 'bob' }
const one = tokenBucket({ capacity: 1, refill: 1, every: '10s' })

beforeEach(() => jest.useFakeTimers({ now: 1_790_000_000_000 }))
afterEach(() => jest.useRealTimers())

const POLICIES: [string, Policy][] = [
  ['tokenBucket', tokenBucket({ capacity: 3, refill: 1, every: '700ms' })],
  ['fixedWindow', fixedWindow({ limit: 3, window: '2s' })],
  ['slidingWindow', slidingWindow({ limit: 3, window: '2s' })],
  ['consecutive', consecutive({ limit: 3 })],
]

describe('a denial', () => {
  test('is repeated without a promise, with the figures that the store would return', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: one, denyCache: '1h' })
    await limiter.charge(bob)
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: false, retryAfterMs: 10_000 })
    jest.advanceTimersByTime(9_999)
    expect(await limiter.charge(bob)).toMatchObject({
      source: 'deny-cache',
      allowed: false,
      remaining: 0,
      retryAfterMs: 1,
      resetAfterMs: 1,
      moreAfterMs: 1,
    })
    expect(store.charges).toBe(2)
  })

  test('ends at the moment at which the store would allow', async () => {
    const limiter = limiterOn(remoteStore(), { policy: one, denyCache: '1h' })
    await limiter.charge(bob)
    await limiter.charge(bob)
    jest.advanceTimersByTime(10_000)
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: true })
  })

  test.each(POLICIES)(
    'of a %s has the figures of the decision that the store would make',
    async (_name, policy) => {
      const step = fc.record({
        waitMs: fc.integer({ min: 0, max: 900 }),
        cost: fc.integer({ min: 1, max: 3 }),
        user: fc.constantFrom('a', 'b'),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const cached = limiterOn(remoteStore(), { policy, denyCache: '1h' })
          const plain = limiterOn(remoteStore(), { policy, denyCache: false })
          for (const { waitMs, cost, user } of steps) {
            jest.advanceTimersByTime(waitMs)
            const { source, ...figures } = { ...(await cached.charge({ user }, { cost })) }
            const { source: _, ...expected } = { ...(await plain.charge({ user }, { cost })) }
            expect(figures).toEqual(expected)
          }
        }),
        { numRuns: 25 },
      )
    },
  )

  test('holds for a larger cost, not for a smaller one', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: fixedWindow({ limit: 5, window: '1h' }), denyCache: '1h' })
    await limiter.charge(bob, { cost: 3 })
    expect(await limiter.charge(bob, { cost: 3 })).toMatchObject({ allowed: false, source: 'store' })
    expect(await limiter.charge(bob, { cost: 4 })).toMatchObject({ allowed: false, source: 'deny-cache' })
    expect(await limiter.charge(bob, { cost: 2 })).toMatchObject({ allowed: true, source: 'store' })
  })

  test('does not hold for other clients, nor for a peek', async () => {
    const limiter = limiterOn(remoteStore(), { policy: one })
    await limiter.charge(bob)
    await limiter.charge(bob)
    expect(await limiter.charge({ user: 'eve' })).toMatchObject({ allowed: true, source: 'store' })
    expect(await limiter.peek(bob)).toMatchObject({ allowed: true, source: 'store', remaining: 0 })
  })

  test('is repeated for a second, or for denyCache', async () => {
    for (const [options, holdsMs] of [
      [{}, 1000],
      [{ denyCache: '250ms' }, 250],
    ] as const) {
      const store = remoteStore()
      const limiter = limiterOn(store, { policy: one, ...options })
      await limiter.charge(bob)
      await limiter.charge(bob)
      jest.advanceTimersByTime(holdsMs - 1)
      expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache' })
      jest.advanceTimersByTime(1)
      expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: false })
      expect(store.charges).toBe(3)
    }
  })

  test('is not cached with denyCache: false, nor from a synchronous store', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: one, denyCache: false })
    for (let i = 0; i < 3; i++) await limiter.charge(bob)
    expect(store.charges).toBe(3)
    const local = limiterOn(memoryStore(), { policy: one })
    for (let i = 0; i < 3; i++) expect(await local.charge(bob)).toMatchObject({ source: 'store' })
  })

  test('holds while the store is down, and emits limited', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: one })
    const emitted: Decision[] = []
    limiter.events.on('denied', (decision) => emitted.push(decision))
    await limiter.charge(bob)
    await limiter.charge(bob)
    store.isDown = true
    expect(await limiter.charge(bob)).toMatchObject({ allowed: false, source: 'deny-cache' })
    expect(emitted.map(({ source }) => source)).toEqual(['store', 'deny-cache'])
    expect(await limiter.charge({ user: 'eve' })).toMatchObject({ source: 'local' })
  })

  test('is repeated after a refund that the circuit breaker keeps from the store, until that is sent', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: one })
    const taken = await limiter.charge(bob)
    await limiter.charge(bob)
    store.isDown = true
    for (let i = 0; i < 20; i++) await limiter.charge({ user: `eve-${i}` })
    await limiter.refund(taken)
    expect(await limiter.charge(bob)).toMatchObject({ allowed: false, source: 'deny-cache' })
    store.isDown = false
    await jest.advanceTimersByTimeAsync(1500)
    expect(await limiter.charge(bob)).toMatchObject({ allowed: true, source: 'store' })
  })
})

describe('a cached denial ends at once', () => {
  test('by forget, also of another limiter on the same store', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: one })
    const other = limiterOn(store, { policy: one })
    for (const forgetting of [limiter, other]) {
      await limiter.charge(bob)
      await limiter.charge(bob)
      expect(await other.charge(bob)).toMatchObject({ source: 'deny-cache' })
      await forgetting.forget(bob)
      expect(await limiter.charge(bob)).toMatchObject({ allowed: true })
      await limiter.forget(bob)
      jest.advanceTimersByTime(1) // a denial sent in the millisecond of a forget is not cached
    }
  })

  test('by refund', async () => {
    const limiter = limiterOn(remoteStore(), { policy: one })
    const first = await limiter.charge(bob)
    await limiter.charge(bob)
    await limiter.refund(first)
    expect(await limiter.charge(bob)).toMatchObject({ allowed: true })
  })

  test('by a forget between the decision of the store and its answer', async () => {
    const store = remoteStore()
    const late: (() => void)[] = []
    const slow: Store = customStore({
      ...store,
      apply: async (operations) => {
        const outcomes = await store.apply(operations)
        if (isDenial(outcomes[0])) await new Promise<void>((resolve) => late.push(resolve))
        return outcomes
      },
    })
    const limiter = limiterOn(slow, { policy: one, timeout: 60_000 })
    await limiter.charge(bob)
    const denied = limiter.charge(bob)
    await jest.advanceTimersByTimeAsync(1)
    const forgotten = limiter.forget(bob)
    await jest.advanceTimersByTimeAsync(1)
    await forgotten
    late.shift()?.()
    expect(await denied).toMatchObject({ allowed: false })
    expect(await limiter.charge(bob)).toMatchObject({ allowed: true, source: 'store' })
  })

  test('when the numbers of the policy change', async () => {
    const store = remoteStore()
    let policy: Policy = fixedWindow({ limit: 1, window: '1h' })
    const limiter = limiterOn(store, { policy: () => policy })
    await limiter.charge(bob)
    await limiter.charge(bob)
    policy = fixedWindow({ limit: 1, window: '1h' }) // the same numbers in another object
    expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache' })
    policy = fixedWindow({ limit: 2, window: '1h' })
    expect(await limiter.charge(bob)).toMatchObject({ allowed: true, source: 'store' })
  })
})

describe('a cached denial is repeated', () => {
  const bucket = { key: 'k', policy: one }
  const key = { key: 'k', policy: ban(one, { after: 10, within: '1m', for: '1h' }) }

  /** Sends an operation through a cache that has a denial. Returns the denial that it still has, if any. */
  async function denialAfter(operation: Exclude<Operation, { type: 'charge' }>) {
    const store = remoteStore()
    const cache = denialCacheOf(store)
    const pipe = new RemotePipe(store, { timeoutMs: 1000, denyCacheMs: 1000 })
    const parts = [{ key: 'k', policy: operation.policy, cost: 1 }]
    const figures = {
      allowed: false,
      remaining: 0,
      resetAfterMs: 9000,
      retryAfterMs: 9000,
      moreAfterMs: 9000,
      unitsAfterMs: 1000,
    }
    const verdict = { type: 'charge', allowed: false, atMs: 1, parts: [figures] } as const
    cache.record(parts, verdict, performance.now())
    await request(pipe, operation)
    return cache.find(parts, 1000)
  }

  test.each<Exclude<Operation, { type: 'charge' }>>([
    { type: 'take', ...bucket, units: 1 },
    { type: 'block', ...key, forMs: 60_000 },
  ])('after a $type, which gives nothing back', async (operation) => {
    expect(await denialAfter(operation)).toMatchObject({ allowed: false, source: 'deny-cache' })
  })

  test.each<Exclude<Operation, { type: 'charge' }>>([
    { type: 'reward', ...key, units: 1 },
    { type: 'refund', ...key, cost: 1, takenAtMs: 1 },
    { type: 'forget', ...key },
  ])('no more after a $type', async (operation) => {
    expect(await denialAfter(operation)).toBeUndefined()
  })
})

describe('charges of several limits', () => {
  const limits = [
    {
      name: 'user',
      policy: fixedWindow({ limit: 2, window: '1h' }),
      key: ({ user }: Subject) => user.slice(0, 1),
    },
    { name: 'name', policy: fixedWindow({ limit: 5, window: '1h' }), key: ({ user }: Subject) => user },
  ]

  test('are denied from the cache when one limit is known to deny', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { limits })
    for (let i = 0; i < 3; i++) await limiter.charge(bob)
    expect(await limiter.charge(bob)).toMatchObject({
      source: 'deny-cache',
      limitName: 'user',
      parts: [
        { name: 'user', allowed: false, remaining: 0 },
        { name: 'name', allowed: true, remaining: 3 },
      ],
    })
    expect(store.charges).toBe(3)
  })

  test('go to the store for a key of which it has not said anything yet', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { limits })
    for (let i = 0; i < 3; i++) await limiter.charge(bob)
    for (const source of ['store', 'deny-cache'])
      expect(await limiter.charge({ user: 'bea' })).toMatchObject({
        source,
        parts: [{ allowed: false }, { name: 'name', allowed: true, remaining: 5 }],
      })
    expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache', parts: [{}, { remaining: 3 }] })
    expect(store.charges).toBe(4)
  })

  test('have the longest retry time of the limits that denied them', async () => {
    const day = {
      name: 'day',
      policy: fixedWindow({ limit: 1, window: '1d' }),
      key: ({ user }: Subject) => user,
    }
    const limiter = limiterOn(remoteStore(), { limits: [...limits.slice(0, 1), day] })
    await limiter.charge(bob)
    const [first, again] = [await limiter.charge(bob), await limiter.charge(bob)]
    expect(again).toMatchObject({ source: 'deny-cache', limitName: 'day', retryAfterMs: first.retryAfterMs })
  })

  test('go to the store once one of the limits that denied them may allow again', async () => {
    const burst = { name: 'burst', policy: fixedWindow({ limit: 1, window: '2s' }), key: () => 'all' }
    const day = { name: 'day', policy: fixedWindow({ limit: 1, window: '1d' }), key: () => 'all' }
    const limiter = limiterOn(remoteStore(), { limits: [burst, day], denyCache: '1h' })
    await limiter.charge(bob)
    expect(await limiter.charge(bob)).toMatchObject({ parts: [{ allowed: false }, { allowed: false }] })
    jest.advanceTimersByTime(1999)
    expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache', limitName: 'day' })
    jest.advanceTimersByTime(1)
    const recovered = { limitName: 'day', parts: [{ allowed: true }, { allowed: false }] }
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', ...recovered })
    expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache', ...recovered })
  })

  test('go to the store once the limit that denied them was forgotten', async () => {
    const store = remoteStore()
    const all = { name: 'all', policy: fixedWindow({ limit: 2, window: '1h' }), key: () => 'all' }
    const limiter = limiterOn(store, { limits: [...limits.slice(1), all] })
    for (let i = 0; i < 3; i++) await limiter.charge(bob)
    await limiter.forget(bob, { limits: ['all'] })
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: true })
  })

  test('with one key twice are not cached: each part alone might be allowed', () => {
    const denials = new DenialCache()
    const policy = fixedWindow({ limit: 3, window: '1h' })
    const part = { key: 'k', policy, cost: 2 }
    const [verdict] = chargeStore(memoryStore(), [[part, part]])
    expect(verdict?.parts.map(({ allowed }) => allowed)).toEqual([true, false])
    denials.record([part, part], verdict as ChargeResult, performance.now())
    expect(denials.find([part], 1000)).toBeUndefined()
  })
})

describe('a ban', () => {
  const twice = { after: 2, within: '1m', for: ['1h', '2h'] } as const

  test('counts every denial in the store, and is repeated from the cache while it lasts', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, { policy: ban(one, twice), denyCache: '1d' })
    for (let i = 0; i < 3; i++) expect(await limiter.charge(bob)).toMatchObject({ source: 'store' })
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', retryAfterMs: 3_600_000 })
    for (let i = 0; i < 3; i++)
      expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache', retryAfterMs: 3_600_000 })
    expect(store.charges).toBe(4)
  })

  test('counts every attempt in the store where each restarts it', async () => {
    const store = remoteStore()
    const limiter = limiterOn(store, {
      policy: ban(one, { ...twice, onAttempt: 'restart' }),
      denyCache: '1d',
    })
    for (let i = 0; i < 6; i++) await limiter.charge(bob)
    expect(store.charges).toBe(6)
  })

  test('that is not known to deny sees every charge that another limit denies', async () => {
    const limits = [
      {
        name: 'address',
        policy: fixedWindow({ limit: 1, window: '1d' }),
        key: ({ user }: Subject) => user.slice(0, 1),
      },
      { name: 'user', policy: ban(one, twice), key: ({ user }: Subject) => user.slice(1) },
    ]
    const limiter = limiterOn(remoteStore(), { limits, denyCache: '1d' })
    await limiter.charge({ user: 'a-bob' })
    expect(await limiter.charge({ user: 'a-bob' })).toMatchObject({ allowed: false, source: 'store' })
    expect(await limiter.charge({ user: 'a-eve' })).toMatchObject({ allowed: false, source: 'store' })
  })

  test('beside a limit that denies counts every denial in the store', async () => {
    const limits = [
      { name: 'all', policy: fixedWindow({ limit: 1, window: '1d' }), key: () => 'all' },
      { name: 'user', policy: ban(one, twice), key: ({ user }: Subject) => user },
    ]
    const limiter = limiterOn(remoteStore(), { limits, denyCache: '1d' })
    for (let i = 0; i < 3; i++) expect(await limiter.charge(bob)).toMatchObject({ source: 'store' })
    const [all, user] = (await limiter.charge(bob)).parts
    expect([all?.allowed, user?.retryAfterMs]).toEqual([false, 3_600_000])
    expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache' })
  })
})

test('a cached denial of a cost above the limit is never over', async () => {
  const limiter = limiterOn(remoteStore(), { policy: fixedWindow({ limit: 2, window: '1h' }) })
  for (let i = 0; i < 3; i++) await limiter.charge(bob)
  expect(await limiter.charge(bob, { cost: 3 })).toMatchObject({
    source: 'deny-cache',
    retryAfterMs: Number.POSITIVE_INFINITY,
  })
})

test('a denial does not hold for a policy with other numbers under the same key', () => {
  const denials = new DenialCache()
  const figures = { allowed: false, remaining: 0, resetAfterMs: 9000, retryAfterMs: 9000, moreAfterMs: 9000 }
  const verdict = { type: 'charge', allowed: false, atMs: 1, parts: [figures] } as const
  denials.record([{ key: 'k', policy: one, cost: 1 }], verdict, performance.now())
  expect(denials.find([{ key: 'k', policy: one, cost: 1 }], 1000)).toBeDefined()
  expect(denials.find([{ key: 'k', policy: one.scale(0.5), cost: 1 }], 1000)).toBeUndefined()
})

test('a denial that was decided during a forget is dropped when the forget ends', async () => {
  const store = remoteStore()
  let arrive = () => {}
  const slow: Store = customStore({
    ...store,
    apply: async (operations) => {
      if (operations[0]?.type === 'forget') {
        await new Promise<void>((resolve) => {
          arrive = resolve
        })
      }
      return store.apply(operations)
    },
  })
  const limiter = limiterOn(slow, { policy: one })
  await limiter.charge(bob)
  const forgotten = limiter.forget(bob)
  jest.advanceTimersByTime(1)
  expect(await limiter.charge(bob)).toMatchObject({ allowed: false, source: 'store' })
  expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache' })
  arrive()
  await forgotten
  expect(await limiter.charge(bob)).toMatchObject({ allowed: true })
})

test('the cache holds at most 32,768 denials, the latest among them', () => {
  const denials = new DenialCache()
  const figures = { allowed: false, remaining: 0, resetAfterMs: 9000, retryAfterMs: 9000, moreAfterMs: 9000 }
  const charges = Array.from({ length: 50_000 }, (_, i): Parts => [{ key: `u${i}`, policy: one, cost: 1 }])
  const verdict = { type: 'charge', allowed: false, atMs: 1, parts: [figures] } as const
  for (const charge of charges) denials.record(charge, verdict, 0)
  const known = charges.filter((charge) => denials.find(charge, 10_000) !== undefined)
  expect(known.length).toBeLessThanOrEqual(32_768)
  expect(known.length).toBeGreaterThanOrEqual(16_384)
  expect(known.at(-1)).toBe(charges.at(-1))
})

test.each<[string, RateLimitMiddleware['limiter'], number]>([
  ['rateLimit', rateLimit({ store: remoteStore(), policy: one, key: () => 'bob' }).limiter, 1000],
  [
    'rateLimit with count',
    rateLimit({ store: remoteStore(), policy: one, key: () => 'bob', count: 'failed' }).limiter,
    100,
  ],
])('%s caches a denial for its default time', async (_name, limiter, holdsMs) => {
  const request = { socket: {}, headers: {} } as Request
  await limiter.charge(request)
  await limiter.charge(request)
  jest.advanceTimersByTime(holdsMs - 1)
  expect(await limiter.charge(request)).toMatchObject({ source: 'deny-cache' })
  jest.advanceTimersByTime(1)
  expect(await limiter.charge(request)).toMatchObject({ source: 'store', allowed: false })
})

test('a tentative denial is not cached', async () => {
  const store = remoteStore()
  const tentative: Store = customStore({
    ...store,
    apply: async (operations) =>
      (await store.apply(operations)).map((outcome) => ({ ...outcome, isTentative: true })),
  })
  const limiter = limiterOn(tentative, { policy: one })
  for (let i = 0; i < 3; i++) await limiter.charge(bob)
  expect(store.charges).toBe(3)
})

test('a pending forget ends a cached denial', async () => {
  const store = remoteStore()
  const slow: Store = customStore({
    ...store,
    apply: (operations) =>
      operations[0]?.type === 'forget' ? new Promise(() => {}) : store.apply(operations),
  })
  const limiter = limiterOn(slow, { policy: one })
  for (let i = 0; i < 2; i++) await limiter.charge(bob)
  limiter.forget(bob)
  await limiter.charge(bob)
  expect(store.charges).toBe(3)
})

test('with a lease a denial is cached for hold at most: leased units return so often', async () => {
  const store = remoteStore()
  const limiter = limiterOn(leased(store, { hold: '50ms' }), { policy: one })
  for (let i = 0; i < 2; i++) await limiter.charge(bob)
  jest.advanceTimersByTime(49)
  expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache' })
  jest.advanceTimersByTime(1)
  expect(await limiter.charge(bob)).toMatchObject({ source: 'store' })
})

test('with a lease a denial is repeated for a twentieth of hold at least, though its retry time is over', async () => {
  const fast = tokenBucket({ capacity: 100, refill: 2, every: '1ms' })
  for (const [isLeased, options, holdsMs] of [
    [true, {}, 10],
    [true, { denyCache: '3ms' }, 3], // denyCache is shorter
    [false, {}, 1],
  ] as const) {
    const store = remoteStore()
    const limiter = limiterOn(isLeased ? leased(store, { hold: '200ms', processes: 1 }) : store, {
      policy: fast,
      ...options,
    })
    await limiter.charge(bob, { cost: 100 })
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', retryAfterMs: 0.5 })
    const { charges } = store
    jest.advanceTimersByTime(holdsMs - 1)
    if (holdsMs > 1)
      expect(await limiter.charge(bob)).toMatchObject({ source: 'deny-cache', retryAfterMs: 1 })
    expect(await limiter.charge(bob, { cost: 101 })).toMatchObject({ retryAfterMs: Number.POSITIVE_INFINITY })
    expect(store.charges).toBe(charges)
    jest.advanceTimersByTime(1)
    expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: true })
  }
})

test('with a lease an overloaded fast bucket admits its rate, and most denials do not call the store', async () => {
  const store = remoteStore()
  const policy = tokenBucket({ capacity: 2000, refill: 2000, every: '1s' })
  const limiter = limiterOn(leased(store, { processes: 4 }), { policy })
  await limiter.charge(bob, { cost: 2000 })
  const decisions: Decision[] = []
  for (let ms = 0; ms < 1000; ms++) {
    for (let i = 0; i < 50; i++) decisions.push(await limiter.charge(bob))
    jest.advanceTimersByTime(1)
  }
  const allowed = decisions.filter((decision) => decision.allowed).length
  expect(allowed).toBeLessThanOrEqual(2000)
  expect(allowed).toBeGreaterThan(1900)
  expect(store.charges).toBeLessThan(3000) // of 50,000
})

test('a refund ends a denial within its least time', async () => {
  const policy = tokenBucket({ capacity: 100, refill: 1, every: '2ms' })
  const limiter = limiterOn(leased(remoteStore(), { processes: 1 }), { policy })
  const all = await limiter.charge(bob, { cost: 100 })
  await limiter.charge(bob)
  jest.advanceTimersByTime(1)
  await limiter.refund(all)
  expect(await limiter.charge(bob)).toMatchObject({ source: 'store', allowed: true })
})

test.each([0, -1, true, 'soon', null, Number.NaN])(
  'denyCache: %p is a TypeError at start-up',
  (denyCache) => {
    expect(() => limiterOn(remoteStore(), { policy: one, denyCache: denyCache as never })).toThrow(
      /^createLimiter: denyCache must be a duration/,
    )
  },
)

test('a refund whose result comes after its time-out ends the denials that were cached meanwhile', () => {
  const policy = fixedWindow({ limit: 1, window: '1m' })
  const parts: Parts = [{ key: 'key', policy, cost: 1 }]
  const store = remoteStore()
  const cache = denialCacheOf(store)
  let endLate: () => void = () => {}
  const late: Pipe = {
    send(operation, settle, onLate) {
      settle(new StoreError('remote', 'no reply within 100 ms'))
      endLate = () => onLate?.({ type: 'refund' } as never, operation)
      return undefined
    },
  }
  const pipe = new RemotePipe(store, { timeoutMs: 100, denyCacheMs: 1000, trackUndecided: () => late })
  const refund: Refund = { type: 'refund', key: 'key', policy, cost: 1, takenAtMs: 0 }
  pipe.send(refund, () => {})
  const denied = policy.take(policy.take(undefined, 0, 1).next, 0, 1)
  const verdict: ChargeResult = { type: 'charge', allowed: false, atMs: 0, parts: [denied] }
  cache.record(parts, verdict, performance.now() + 1)
  expect(cache.find(parts, 1000)).toMatchObject({ allowed: false })
  endLate()
  expect(cache.find(parts, 1000)).toBeUndefined()
})
