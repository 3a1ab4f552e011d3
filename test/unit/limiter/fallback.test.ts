import {
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { type FailingStore, failingStore } from '../../support/failing-store.js'
import { brokenStore } from '../../support/fault-stores.js'

interface Subject {
  readonly user: string
}

const LIMIT = 12
const POLICIES: readonly (readonly [string, Policy])[] = [
  ['tokenBucket', tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1d' })],
  ['slidingWindow', slidingWindow({ limit: LIMIT, window: '1d' })],
  ['fixedWindow', fixedWindow({ limit: LIMIT, window: '1d' })],
  ['consecutive', consecutive({ limit: LIMIT })],
]
const [[, bucket]] = POLICIES as [[string, Policy]]
/** One failure less than opens the circuit breaker, and answers enough that failures stay below half. */
const FAILURES = 4
const ANSWERS = 10
const ada = { user: 'ada' }

function limiterOn(store: Store, options: Partial<LimiterOptions<Subject>> = {}): Limiter<Subject> {
  const limiter = createLimiter<Subject>({
    name: 'api',
    policy: bucket,
    key: ({ user }) => user,
    store,
    onStoreError: 'local',
    ...options,
  })
  limiter.events.on('storeError', () => undefined)
  return limiter
}

/** How many of so many charges are allowed, one after the other. */
async function admittedOf(limiter: Limiter<Subject>, charges: number): Promise<number> {
  let admitted = 0
  for (let i = 0; i < charges; i++) if ((await limiter.charge(ada)).allowed) admitted++
  return admitted
}

/** How many charges are allowed in an outage too short to open the circuit breaker. */
async function admittedInOutage(store: FailingStore, limiter: Limiter<Subject>): Promise<number> {
  store.mode = 'failing'
  const admitted = await admittedOf(limiter, FAILURES)
  await store.recover()
  for (let i = 0; i < ANSWERS; i++) expect(await limiter.peek(ada)).toMatchObject({ source: 'store' })
  return admitted
}

describe.each(POLICIES)('%s', (_name, policy) => {
  test('decides in memory while the store is down; once it is back, its own states decide again', async () => {
    const store = failingStore()
    const limiter = limiterOn(store, { policy })
    expect(await admittedOf(limiter, 4)).toBe(4)
    store.mode = 'failing'
    expect(await limiter.charge(ada)).toMatchObject({ allowed: true, source: 'local', remaining: LIMIT - 1 })
    await store.recover()
    expect(await limiter.charge(ada)).toMatchObject({ allowed: true, source: 'store', remaining: LIMIT - 5 })
  })

  test('a store that fails repeatedly grants no second local quota', async () => {
    const store = failingStore()
    const limiter = limiterOn(store, { policy })
    const admitted: number[] = []
    for (let i = 0; i < 5; i++) admitted.push(await admittedInOutage(store, limiter))
    expect(admitted).toEqual([4, 4, 4, 0, 0])
    expect(await admittedOf(limiter, 2 * LIMIT)).toBe(LIMIT)
    expect(await admittedInOutage(store, limiter)).toBe(0)
  })

  test('an outage admits at most processes x share x limit beside the limit itself', async () => {
    const processes = 3
    const server = memoryStore()
    const stores = Array.from({ length: processes }, () => failingStore(server))
    const limiters = stores.map((store) => limiterOn(store, { policy, fallbackShare: 1 / processes }))
    let local = 0
    for (let outage = 0; outage < 3; outage++) {
      for (const [i, store] of stores.entries()) {
        local += await admittedInOutage(store, limiters[i] as Limiter<Subject>)
      }
    }
    expect(local).toBe(LIMIT)
    expect(await admittedOf(limiters[0] as Limiter<Subject>, 2 * LIMIT)).toBe(LIMIT)
  })

  test('each process has its share of the limit, and shows it', async () => {
    const store = failingStore()
    store.mode = 'failing'
    const limiter = limiterOn(store, { policy, fallbackShare: 1 / 6 })
    const decisions = []
    for (let i = 0; i < 4; i++) decisions.push(await limiter.charge(ada))
    expect(decisions.map(({ allowed, limit, remaining }) => ({ allowed, limit, remaining }))).toEqual([
      { allowed: true, limit: 2, remaining: 1 },
      { allowed: true, limit: 2, remaining: 0 },
      { allowed: false, limit: 2, remaining: 0 },
      { allowed: false, limit: 2, remaining: 0 },
    ])
  })
})

test('a share is at least one unit', async () => {
  const store = failingStore()
  store.mode = 'failing'
  const limiter = limiterOn(store, { fallbackShare: 1 / 100 })
  expect(await admittedOf(limiter, FAILURES)).toBe(1)
})

test('a charge that costs more than the share takes all of it, one that costs more than the limit is denied', async () => {
  const store = failingStore()
  store.mode = 'failing'
  const limiter = limiterOn(store, { fallbackShare: 1 / 4, cost: 5 })
  expect(await limiter.charge(ada)).toMatchObject({ allowed: true, remaining: 0 })
  expect(await limiter.charge(ada)).toMatchObject({ allowed: false })
  expect(await limiter.charge({ user: 'bob' }, { cost: LIMIT + 1 })).toMatchObject({
    allowed: false,
    retryAfterMs: Number.POSITIVE_INFINITY,
  })
})

test('limiters that share keys in a store share its fallback', async () => {
  const store = failingStore()
  store.mode = 'failing'
  const [one, other] = [limiterOn(store), limiterOn(store)]
  for (let i = 0; i < LIMIT / 2; i++) {
    expect(await one.charge(ada)).toMatchObject({ allowed: true })
    expect(await other.charge(ada)).toMatchObject({ allowed: true })
  }
  expect(await other.charge(ada)).toMatchObject({ allowed: false, source: 'local' })
})

test('forget frees a client in the fallback also where the store fails', async () => {
  const store = failingStore()
  const { apply } = store
  store.apply = async (operations) => {
    if (operations.some(({ type }) => type === 'forget')) throw new Error('connection lost')
    return apply(operations)
  }
  store.mode = 'failing'
  const limiter = limiterOn(customStore(store))
  await admittedOf(limiter, FAILURES)
  await expect(async () => limiter.forget(ada)).rejects.toThrow('connection lost')
  expect(await limiter.charge(ada)).toMatchObject({ source: 'local', remaining: LIMIT - 1 })
})

test.each(['failing', 'up'] as const)(
  'refund returns the units of a local decision to the fallback alone (store %s)',
  async (mode) => {
    const store = failingStore()
    const limiter = limiterOn(store)
    await limiter.charge(ada)
    store.mode = 'failing'
    await limiter.charge(ada)
    const decision = await limiter.charge(ada)
    store.mode = mode
    await limiter.refund(decision)
    await limiter.refund(decision)
    store.mode = 'up'
    expect(await limiter.peek(ada)).toMatchObject({ source: 'store', remaining: LIMIT - 1 })
    store.mode = 'failing'
    expect(await limiter.peek(ada)).toMatchObject({ source: 'local', remaining: LIMIT - 1 })
  },
)

test.each([
  [
    0,
    /fallbackShare must be a number above 0 and at most 1, got 0\. With four processes, write fallbackShare: 1 \/ 4/,
  ],
  [1.5, /fallbackShare must be .* got 1\.5/],
  [Number.NaN, /fallbackShare must be .* got NaN/],
  ['1/4', /fallbackShare must be .* got "1\/4"/],
])('a share of %p is a TypeError with the fix', (share, message) => {
  const make = () => createLimiter({ policy: bucket, onStoreError: 'local', fallbackShare: share as number })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test("a share beside onStoreError: 'allow' or 'deny' is a TypeError with the fix", () => {
  const make = (options: object) => () => createLimiter({ policy: bucket, fallbackShare: 0.5, ...options })
  for (const onStoreError of ['allow', 'deny'])
    expect(make({ onStoreError })).toThrow(/fallbackShare applies only with onStoreError: 'local'/)
  for (const options of [{}, { onStoreError: 'local' }, { onStoreError: () => 'local' }])
    expect(make(options)).not.toThrow()
})

test('what a policy throws in the local fallback is what the charge rejects with', async () => {
  const policy: Policy = {
    ...tokenBucket({ capacity: 2, refill: 2, every: '1m' }),
    take() {
      throw new Error('the policy broke')
    },
  }
  const limiter = createLimiter({
    policy,
    key: () => 'ada',
    store: brokenStore(),
    onStoreError: 'local',
    fallbackShare: 1,
  })
  limiter.events.on('storeError', () => {})
  await expect(limiter.charge({ ip: '192.0.2.7' })).rejects.toThrow('the policy broke')
})
