import fc from 'fast-check'
import {
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customStore, type Outcome } from 'headgate/store'

/** A store that answers with promises, as a remote one does. Its clock is that of the fake timers. */
function remoteStore(): Store {
  const memory = memoryStore({ clock: () => Date.now() })
  return customStore({ name: 'remote', apply: async (operations) => memory.apply(operations) })
}

const isDenial = (outcome: Outcome | undefined) =>
  !(outcome instanceof Error) && outcome?.type === 'charge' && !outcome.allowed

const byUser = { key: (user: string) => user }

const limits: LimiterOptions<string>['limits'] = [
  { name: 'daily', policy: fixedWindow({ limit: 3, window: '1d' }), ...byUser },
  { name: 'all', policy: slidingWindow({ limit: 5, window: '1m' }), key: () => 'all' },
  { name: 'burst', policy: tokenBucket({ capacity: 2, refill: 2, every: '1s' }), ...byUser },
]

const limiterOf = (options: Partial<LimiterOptions<string>>) =>
  createLimiter<string>({ store: remoteStore(), name: 'api', denyCache: '1d', ...options })

/** The figures of a decision and of its parts that are not what any store could return. */
function wrongFigures(decision: Decision): unknown[] {
  return [decision, ...decision.parts].flatMap((figures) => {
    const { allowed, remaining, retryAfterMs, resetAfterMs, moreAfterMs } = figures
    const isWrong =
      [remaining, retryAfterMs, resetAfterMs, moreAfterMs].some((figure) => !(figure >= 0)) ||
      allowed !== (retryAfterMs === 0)
    return isWrong ? [{ allowed, remaining, retryAfterMs, resetAfterMs, moreAfterMs }] : []
  })
}

beforeEach(() => jest.useFakeTimers({ now: 1_790_000_000_000 }))
afterEach(() => jest.useRealTimers())

test('a limit that has recovered beside one that denies has no negative time', async () => {
  const limiter = limiterOf({ limits })
  for (let i = 0; i < 3; i++) {
    expect(await limiter.charge('bob')).toMatchObject({ allowed: true })
    jest.advanceTimersByTime(500)
  }
  expect(await limiter.charge('bob')).toMatchObject({ allowed: false, limitName: 'daily' })
  jest.advanceTimersByTime(600_000)
  const decision = (await limiter.charge('bob')) as Decision
  expect(decision.source).toBe('deny-cache')
  expect(decision.parts.slice(1)).toMatchObject([
    { name: 'all', resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 },
    { name: 'burst', resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 },
  ])
  expect(wrongFigures(decision)).toEqual([])
})

test('whatever is charged and whatever time passes, no figure is negative and only a denial has a wait', async () => {
  const step = fc.record({
    user: fc.constantFrom('a', 'b'),
    cost: fc.integer({ min: 0, max: 4 }),
    waitMs: fc.oneof(fc.nat(900), fc.nat(90_000), fc.constant(86_400_000)),
  })
  let cached = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      const limiter = limiterOf({ limits })
      for (const { user, cost, waitMs } of steps) {
        const decision = await limiter.charge(user, { cost })
        if (decision.source === 'deny-cache') cached++
        expect(wrongFigures(decision)).toEqual([])
        jest.advanceTimersByTime(waitMs)
      }
    }),
    { numRuns: 50 },
  )
  expect(cached).toBeGreaterThan(50)
})

test('a peek in between leaves a denial in the cache', async () => {
  const limiter = limiterOf({ policy: fixedWindow({ limit: 2, window: '1h' }), ...byUser })
  for (let i = 0; i < 3; i++) await limiter.charge('bob')
  expect(await limiter.peek('bob')).toMatchObject({ source: 'store', allowed: true, remaining: 0 })
  expect(await limiter.charge('bob', { cost: 0 })).toMatchObject({ allowed: true })
  expect(await limiter.charge('bob')).toMatchObject({ source: 'deny-cache', allowed: false })
})

test('a denial that was decided just before a forget, in the same millisecond, is not cached', async () => {
  const remote = remoteStore()
  let release = () => {}
  const store: Store = customStore({
    ...remote,
    async apply(operations) {
      const outcomes = await remote.apply(operations)
      if (isDenial(outcomes[0])) await new Promise<void>((resolve) => (release = resolve))
      return outcomes
    },
  })
  const limiter = limiterOf({ store, policy: fixedWindow({ limit: 1, window: '1h' }), ...byUser })
  await limiter.charge('bob')
  const denied = limiter.charge('bob')
  await limiter.forget('bob')
  release()
  expect(await denied).toMatchObject({ allowed: false, source: 'store' })
  expect(await limiter.charge('bob')).toMatchObject({ allowed: true, source: 'store' })
})

test('a denial that was decided before a forget whose answer is lost is dropped: the forget may have worked', async () => {
  const remote = remoteStore()
  let fail = () => {}
  const store: Store = customStore({
    ...remote,
    async apply(operations) {
      const isForget = operations[0]?.type === 'forget'
      if (isForget) await new Promise<void>((resolve) => (fail = resolve))
      const outcomes = await remote.apply(operations)
      if (isForget) throw new Error('connection lost')
      return outcomes
    },
  })
  const limiter = limiterOf({ store, policy: fixedWindow({ limit: 1, window: '1h' }), ...byUser })
  await limiter.charge('bob')
  const forgotten = Promise.resolve(limiter.forget('bob')).catch((error) => error)
  jest.advanceTimersByTime(1)
  expect(await limiter.charge('bob')).toMatchObject({ allowed: false, source: 'store' })
  fail()
  expect(await forgotten).toMatchObject({ name: 'StoreError' })
  expect(await limiter.charge('bob')).toMatchObject({ allowed: true, source: 'store' })
})
