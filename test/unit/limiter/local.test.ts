import {
  type Charge,
  consecutive,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { nextTurn } from '../../support/exchange.js'

interface Subject {
  readonly user: string
}

/** A correct store that can be away, and then fails each charge, or leaves it without an answer until it is back. */
function mortalStore(): Store & {
  isAway: boolean
  hangs: boolean
  comeBack(): Promise<void>
  /** At rest. */
  firstKey: string
} {
  const memory = memoryStore()
  const hanging: (() => void)[] = []
  const store = {
    ...memory,
    name: 'mortal',
    isAway: false,
    hangs: false,
    firstKey: '',
    async charge(batch: readonly Charge[]) {
      store.firstKey ||= batch[0]?.[0]?.key ?? ''
      if (store.isAway && store.hangs) await new Promise<void>((resolve) => hanging.push(resolve))
      else if (store.isAway) throw new Error('away')
      return memory.charge(batch)
    },
    async refund(refunds: Parameters<Store['refund']>[0]) {
      memory.refund(refunds)
    },
    async comeBack() {
      store.isAway = false
      for (const resolve of hanging.splice(0)) resolve()
      await nextTurn()
    },
  }
  return store
}

const POLICIES: [string, Policy][] = [
  ['tokenBucket', tokenBucket({ capacity: 10, refill: 10, every: '1d' })],
  ['slidingWindow', slidingWindow({ limit: 10, window: '1d' })],
  ['fixedWindow', fixedWindow({ limit: 10, window: '1d' })],
  ['consecutive', consecutive({ limit: 10 })],
]
const [, bucket] = POLICIES[0] as [string, Policy]

function limited(store: Store, options: Partial<LimiterOptions<Subject>> = {}) {
  const limiter = createLimiter<Subject>({
    policy: bucket,
    key: ({ user }) => user,
    store,
    onStoreError: 'local',
    timeoutMs: 20,
    ...options,
  })
  limiter.events.on('storeError', () => undefined)
  return limiter
}

/** Waits until the breaker lets the store be asked again, and all that is owed has been charged. */
async function recovered(limiter: ReturnType<typeof limited>): Promise<void> {
  for (let i = 0; i < 400; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    if ((await limiter.peek({ user: 'nobody' })).source === 'store') break
  }
  await nextTurn()
  await nextTurn()
}

describe.each(POLICIES)('while the store is away, a %s', (_name, policy) => {
  test('goes on in memory, and what was let through there is charged to the store when it is back', async () => {
    const store = mortalStore()
    const limiter = limited(store, { policy })
    for (let i = 0; i < 4; i++) await limiter.charge({ user: 'ada' })
    store.isAway = true
    const local = []
    for (let i = 0; i < 12; i++) local.push(await limiter.charge({ user: 'ada' }))
    expect(local.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect(new Set(local.map(({ source }) => source))).toEqual(new Set(['local']))
    await limiter.charge({ user: 'bob' })
    await store.comeBack()
    await recovered(limiter)
    expect(await limiter.peek({ user: 'bob' })).toMatchObject({ source: 'store', remaining: 9 })
    expect(await limiter.charge({ user: 'ada' })).toMatchObject({
      source: 'store',
      allowed: false,
      remaining: 0,
    })
  })

  test('has a share of the limit, at least 1, and shows that', async () => {
    const store = mortalStore()
    store.isAway = true
    const limiter = limited(store, { policy, share: 1 / 4 })
    const decisions = []
    for (let i = 0; i < 4; i++) decisions.push(await limiter.charge({ user: 'ada' }))
    expect(decisions.map(({ allowed, limit, remaining }) => ({ allowed, limit, remaining }))).toEqual([
      { allowed: true, limit: 2, remaining: 1 },
      { allowed: true, limit: 2, remaining: 0 },
      { allowed: false, limit: 2, remaining: 0 },
      { allowed: false, limit: 2, remaining: 0 },
    ])
  })
})

test('a request that costs more than the share of its limit takes all of that, and owes its whole cost', async () => {
  const store = mortalStore()
  store.isAway = true
  const limiter = limited(store, { share: 1 / 4, cost: 5 })
  expect(await limiter.charge({ user: 'ada' })).toMatchObject({ allowed: true, remaining: 0 })
  expect(await limiter.charge({ user: 'ada' })).toMatchObject({ allowed: false })
  expect(await limiter.charge({ user: 'bob' }, { cost: 11 })).toMatchObject({
    allowed: false,
    retryAfterMs: Number.POSITIVE_INFINITY,
  })
  await store.comeBack()
  await recovered(limiter)
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 5 })
})

test('limiters that share keys in a store share its stand-in', async () => {
  const store = mortalStore()
  store.isAway = true
  const [one, other] = [limited(store, { name: 'api' }), limited(store, { name: 'api' })]
  for (let i = 0; i < 5; i++) {
    expect(await one.charge({ user: 'ada' })).toMatchObject({ allowed: true })
    expect(await other.charge({ user: 'ada' })).toMatchObject({ allowed: true })
  }
  expect(await other.charge({ user: 'ada' })).toMatchObject({ allowed: false, source: 'local' })
})

test('forgotten while the store is away, a client owes nothing', async () => {
  const store = mortalStore()
  store.isAway = true
  const limiter = limited(store)
  for (let i = 0; i < 10; i++) await limiter.charge({ user: 'ada' })
  await expect(async () => limiter.forget({ user: 'ada' })).rejects.toThrow('away')
  expect(await limiter.charge({ user: 'ada' })).toMatchObject({ allowed: true, remaining: 9 })
  await store.comeBack()
  await recovered(limiter)
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 9 })
})

test('what is given back while the store is away is not owed', async () => {
  const store = mortalStore()
  store.isAway = true
  const limiter = limited(store)
  const decisions = []
  for (let i = 0; i < 5; i++) decisions.push(await limiter.charge({ user: 'ada' }))
  for (const decision of decisions.slice(0, 3)) await limiter.refund(decision)
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'local', remaining: 8 })
  await store.comeBack()
  await recovered(limiter)
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 8 })
})

test('a store that cannot be charged with debts yet is charged later, once', async () => {
  const store = mortalStore()
  store.isAway = true
  const limiter = limited(store)
  for (let i = 0; i < 5; i++) await limiter.charge({ user: 'ada' })
  await store.comeBack()
  const { charge } = store
  let isFull = true
  store.charge = (batch) =>
    isFull && batch[0]?.[0]?.key === store.firstKey
      ? Promise.reject(new StoreError('mortal', 'full', { answered: true }))
      : charge(batch)
  await recovered(limiter)
  isFull = false
  await new Promise((resolve) => setTimeout(resolve, 1050))
  await limiter.peek({ user: 'nobody' })
  await nextTurn()
  await nextTurn()
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 5 })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 5 })
})

describe('an answer that comes too late', () => {
  /** Charges `ada` while the store hangs, and lets it answer after that. */
  async function chargedLate(options: Partial<LimiterOptions<Subject>>) {
    const store = mortalStore()
    const limiter = limited(store, options)
    store.isAway = true
    store.hangs = true
    const decision = await limiter.charge({ user: 'ada' }, { cost: 4 })
    const remaining = async () => {
      await nextTurn()
      return (await store.charge([[{ key: store.firstKey, policy: bucket, cost: 0 }]])) as unknown
    }
    return {
      store,
      limiter,
      decision,
      remaining,
      left: (units: number) => [{ parts: [{ remaining: units }] }],
    }
  }

  test('counts once, where the stand-in let the request through', async () => {
    const { store, limiter, decision, remaining, left } = await chargedLate({ onStoreError: 'local' })
    expect(decision).toMatchObject({ allowed: true, source: 'local' })
    await store.comeBack()
    await limiter.peek({ user: 'nobody' })
    expect(await remaining()).toMatchObject(left(6))
  })

  test('counts once, where the store answers others in the meantime', async () => {
    const { store, limiter, remaining, left } = await chargedLate({ onStoreError: 'local' })
    store.isAway = false
    expect(await limiter.charge({ user: 'bob' })).toMatchObject({ source: 'store' })
    await new Promise((resolve) => setTimeout(resolve, 5))
    await store.comeBack()
    await limiter.peek({ user: 'nobody' })
    await nextTurn()
    expect(await remaining()).toMatchObject(left(6))
  })

  test.each(['local', 'deny'] as const)(
    'counts once for each of many, also while the store is not asked (%s)',
    async (choice) => {
      const store = mortalStore()
      const limiter = limited(store, { onStoreError: choice })
      Object.assign(store, { isAway: true, hangs: true })
      await Promise.all(Array.from({ length: 8 }, () => limiter.charge({ user: 'ada' })))
      for (let i = 0; i < 5; i++) await limiter.charge({ user: `other ${i}` })
      expect((await limiter.health()).state).toBe('open')
      await store.comeBack()
      await recovered(limiter)
      expect(await limiter.peek({ user: 'ada' })).toMatchObject({ remaining: choice === 'deny' ? 10 : 2 })
    },
  )

  test('is not forgiven twice, where another request owes for the same client', async () => {
    const { store, limiter, decision, remaining, left } = await chargedLate({ onStoreError: 'local' })
    store.hangs = false
    expect(await limiter.charge({ user: 'ada' })).toMatchObject({ source: 'local', allowed: true })
    await store.comeBack()
    await limiter.refund(decision)
    await limiter.peek({ user: 'nobody' })
    expect(await remaining()).toMatchObject(left(9))
  })

  test('is given back, where the request was refused', async () => {
    const { store, decision, remaining, left } = await chargedLate({ onStoreError: 'deny' })
    expect(decision).toMatchObject({ allowed: false, source: 'closed', retryAfterMs: 1000 })
    await store.comeBack()
    expect(await remaining()).toMatchObject(left(10))
  })

  test.each<[string, () => 'allow' | Promise<'allow'>]>([
    [
      'throws',
      () => {
        throw new Error('no choice')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no choice'))],
  ])('is given back, where onStoreError %s', async (_how, onStoreError) => {
    const store = mortalStore()
    const limiter = limited(store, { onStoreError })
    Object.assign(store, { isAway: true, hangs: true })
    await expect(async () => limiter.charge({ user: 'ada' })).rejects.toThrow('no choice')
    await store.comeBack()
    await nextTurn()
    expect(await limiter.peek({ user: 'ada' })).toMatchObject({ source: 'store', remaining: 10 })
  })

  test('stays taken, where the request was let through', async () => {
    const { store, decision, remaining, left } = await chargedLate({ onStoreError: 'allow' })
    expect(decision).toMatchObject({ allowed: true, source: 'open' })
    await store.comeBack()
    expect(await remaining()).toMatchObject(left(6))
  })

  test.each(['local', 'allow'] as const)(
    'is given back with its decision (%s), before it comes',
    async (choice) => {
      const { store, limiter, decision, remaining, left } = await chargedLate({ onStoreError: choice })
      await limiter.refund(decision)
      await store.comeBack()
      await limiter.peek({ user: 'nobody' })
      expect(await remaining()).toMatchObject(left(10))
    },
  )

  test.each(['local', 'allow'] as const)(
    'is given back with its decision (%s), after it came',
    async (choice) => {
      const { store, limiter, decision, remaining, left } = await chargedLate({ onStoreError: choice })
      await store.comeBack()
      await limiter.refund(decision)
      await limiter.peek({ user: 'nobody' })
      expect(await remaining()).toMatchObject(left(10))
    },
  )

  test.each(['local', 'allow', 'deny'] as const)(
    'that is a failure takes nothing, and is no unhandled rejection (%s)',
    async (choice) => {
      let fail: (error: Error) => void = () => undefined
      const store: Store = {
        ...memoryStore(),
        name: 'late',
        charge: () => new Promise((_, reject) => (fail = reject)),
      }
      const unhandled = jest.fn()
      process.on('unhandledRejection', unhandled)
      await limited(store, { onStoreError: choice }).charge({ user: 'ada' })
      fail(new Error('too late'))
      await new Promise((resolve) => setTimeout(resolve, 20))
      process.off('unhandledRejection', unhandled)
      expect(unhandled).not.toHaveBeenCalled()
    },
  )
})

test.each([
  [0, /share must be a number above 0 and at most 1, got 0\. With four processes write share: 1 \/ 4/],
  [1.5, /share must be .* got 1\.5/],
  [Number.NaN, /share must be .* got NaN/],
  ['1/4', /share must be .* got "1\/4"/],
])('a share of %p is a TypeError with the mend', (share, message) => {
  const make = () => createLimiter({ policy: bucket, onStoreError: 'local', share: share as number })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test('a share for what does not stand in is a TypeError with the mend', () => {
  for (const onStoreError of ['allow', 'deny', undefined] as const) {
    expect(() =>
      createLimiter({ policy: bucket, share: 0.5, ...(onStoreError && { onStoreError }) }),
    ).toThrow(/share is for onStoreError: 'local'/)
  }
  expect(() => createLimiter({ policy: bucket, share: 0.5, onStoreError: () => 'local' })).not.toThrow()
})

test('a share of a bucket whose rate cannot be kept is a TypeError before the store ever fails', async () => {
  const fast = tokenBucket({ capacity: 1, refill: 1_024_000, every: '1s' }) // an interval of 4/4096 ms
  const options = { onStoreError: 'local' as const, share: 0.9 }
  expect(() => createLimiter({ policy: fast, ...options })).toThrow(
    'createLimiter: share: 0.9 of 1024000-in-1s-burst-1 is a rate that a token bucket cannot keep within 0.2 %.',
  )
  expect(() => createLimiter({ policy: fast, ...options, share: 0.5 })).not.toThrow()
  const limiter = createLimiter({ policy: () => fast, key: () => 'ada', ...options })
  expect(() => limiter.charge({})).toThrow('share: 0.9 of 1024000-in-1s-burst-1')
})
