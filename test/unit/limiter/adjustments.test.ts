import {
  ban,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { manualClock } from 'headgate/testing'

const HOUR_MS = 3_600_000
const key = ({ id }: { id: string }) => id
const ada = { id: 'ada' }

/** A store that answers with promises, as a remote one does, and fails while it is down. */
function remoteStore(clock: () => number) {
  const memory = memoryStore({ clock })
  let isDown = false
  const store: Store = customStore({
    name: 'remote',
    async apply(operations) {
      if (isDown) throw new Error('connection lost')
      return memory.apply(operations)
    },
  })
  return {
    store,
    fail: (fails: boolean) => {
      isDown = fails
    },
  }
}

const banned = (policy: Policy) => ban(policy, { after: 3, within: '1h', for: ['1m', '1h'] })
const hourly = fixedWindow({ limit: 10, window: '1h' })

const KINDS: readonly (readonly [string, Policy])[] = [
  ['fixedWindow', hourly],
  ['slidingWindow', slidingWindow({ limit: 10, window: '1h' })],
  ['tokenBucket', tokenBucket({ capacity: 10, refill: 10, every: '1h' })],
  ['consecutive', consecutive({ limit: 10 })],
  ['fixedWindow from the first request', fixedWindow({ limit: 10, window: '1h', startsAt: 'first-request' })],
  ['ban', banned(hourly)],
]

type Id = { id: string }
type Make = (options: Partial<LimiterOptions<Id>>) => {
  limiter: Limiter<Id>
  clock: ReturnType<typeof manualClock>
}

const inMemory: Make = (options) => {
  const clock = manualClock(1000 * HOUR_MS)
  return { limiter: createLimiter({ key, store: memoryStore({ clock }), ...options }), clock }
}

/** Makes a limiter before a store that answers with promises. */
const remotely: Make = (options) => {
  const clock = manualClock(1000 * HOUR_MS)
  return { limiter: createLimiter({ key, store: remoteStore(clock).store, ...options }), clock }
}

const PLACES: readonly (readonly [string, Make])[] = [
  ['memory', inMemory],
  ['a remote store', remotely],
]

const CASES = PLACES.flatMap(([place, make]) =>
  KINDS.map(([kind, policy]) => ({ place, kind, make, policy })),
)

describe.each(CASES)('in $place, with a $kind', ({ make, policy }) => {
  test('a penalty takes what is left at most, a reward gives back what is taken at most, and forget undoes both', async () => {
    const { limiter } = make({ policy })
    await limiter.penalize(ada, 4)
    expect((await limiter.peek(ada)).remaining).toBe(6)
    expect((await limiter.charge(ada)).remaining).toBe(5)
    await limiter.penalize(ada, 100)
    expect((await limiter.charge(ada)).allowed).toBe(false)
    await limiter.reward(ada, 2)
    expect((await limiter.charge(ada)).remaining).toBe(1)
    await limiter.reward(ada, 100)
    expect((await limiter.peek(ada)).remaining).toBe(10)
    await limiter.penalize(ada, 10)
    await limiter.forget(ada)
    expect((await limiter.peek(ada)).remaining).toBe(10)
    await limiter.reward({ id: 'unknown' }, 5)
    expect((await limiter.charge({ id: 'unknown' }, { cost: 11 })).allowed).toBe(false)
  })

  test('a cost that is known later is adjusted, up and down, and refunded as it is in the end', async () => {
    const { limiter } = make({ policy })
    const decision = await limiter.charge(ada, { cost: 2 })
    await limiter.adjust(decision, 5)
    expect((await limiter.peek(ada)).remaining).toBe(5)
    await limiter.adjust(decision, 1)
    expect((await limiter.peek(ada)).remaining).toBe(9)
    await Promise.all([limiter.adjust(decision, 3), limiter.adjust(decision, 6)])
    expect((await limiter.peek(ada)).remaining).toBe(4)
    await limiter.charge(ada, { cost: 3 })
    await limiter.adjust(decision, 100)
    expect((await limiter.peek(ada)).remaining).toBe(0)
    await limiter.adjust(decision, 6)
    expect((await limiter.peek(ada)).remaining).toBe(1)
    await limiter.refund(decision)
    expect((await limiter.peek(ada)).remaining).toBe(7)
    await limiter.adjust(decision, 9)
    await limiter.refund(decision)
    expect((await limiter.peek(ada)).remaining).toBe(7)
  })
})

test.each(PLACES)('in %s, a block denies for its time exactly, and forget ends it', async (_place, make) => {
  const { limiter, clock } = make({ policy: banned(hourly), denyCache: false })
  const denials: unknown[] = []
  limiter.events.on('denied', (decision) => denials.push(decision))
  await limiter.charge(ada, { cost: 3 })
  await limiter.blockFor(ada, '10m')
  const blocked = await limiter.charge(ada)
  const figures = { allowed: false, remaining: 0, retryAfterMs: 600_000 }
  expect(blocked).toMatchObject({ ...figures, parts: [figures] })
  expect(denials).toEqual([blocked])
  await limiter.blockFor(ada, '1s')
  clock.advance(599_999)
  expect((await limiter.charge(ada)).retryAfterMs).toBe(1)
  clock.advance(1)
  expect(await limiter.charge(ada)).toMatchObject({ allowed: true, remaining: 6 })
  await limiter.blockFor(ada, '1h')
  expect((await limiter.charge(ada)).allowed).toBe(false)
  await limiter.forget(ada)
  expect((await limiter.charge(ada)).remaining).toBe(9)
})

test('an attempt that restarts a ban does not shorten a block', async () => {
  const policy = ban(hourly, { after: 3, within: '1h', for: ['1m', '1h'], onAttempt: 'restart' })
  const { limiter, clock } = inMemory({ policy })
  await limiter.blockFor(ada, '1h')
  clock.advance(10)
  expect((await limiter.charge(ada)).retryAfterMs).toBe(HOUR_MS - 10)
  expect((await limiter.charge(ada)).retryAfterMs).toBe(HOUR_MS - 10)
})

test.each(PLACES)('in %s, the names of limits choose what is changed', async (_place, make) => {
  const limits = [
    { name: 'requests', policy: hourly, key },
    { name: 'tokens', policy: banned(fixedWindow({ limit: 100, window: '1h' })), key, cost: 20 },
  ]
  const { limiter } = make({ limits, key: undefined as never })
  const left = async () => (await limiter.peek(ada)).parts.map(({ remaining }) => remaining)
  const decision = await limiter.charge(ada)
  await limiter.adjust(decision, 35, { limits: ['tokens'] })
  expect(await left()).toEqual([9, 65])
  await limiter.penalize(ada, 5, { limits: ['requests'] })
  expect(await left()).toEqual([4, 65])
  await limiter.reward(decision, 2)
  expect(await left()).toEqual([6, 67])
  await limiter.refund(decision, { limits: ['tokens'] })
  expect(await left()).toEqual([6, 100])
  await limiter.blockFor(ada, '1m') // the only limit with a ban
  expect(await left()).toEqual([6, 0])
})

test('a cached denial hides no reward, no adjustment, and is not shorter than a block', async () => {
  const { limiter } = remotely({ policy: banned(hourly), denyCache: '1h' })
  const decision = await limiter.charge(ada, { cost: 10 })
  const denied = async () => !(await limiter.charge(ada)).allowed
  expect(await denied()).toBe(true)
  await limiter.reward(ada, 1)
  expect(await denied()).toBe(false)
  expect(await denied()).toBe(true)
  await limiter.adjust(decision, 9)
  expect(await denied()).toBe(false)
  await limiter.charge(ada, { cost: 5 })
  await limiter.blockFor(ada, '1h')
  expect((await limiter.charge(ada)).retryAfterMs).toBe(HOUR_MS)
})

test('what took nothing is not adjusted: a denial, a decision without a store, a copy', async () => {
  const { limiter } = inMemory({ policy: hourly })
  const decision = await limiter.charge(ada)
  const denied = await limiter.charge(ada, { cost: 10 })
  for (const each of [
    denied,
    { ...decision },
    createLimiter({ limits: [{ policy: hourly, skip: () => true }] }).charge({ ip: '192.0.2.7' }),
  ])
    await limiter.adjust((await each) as typeof decision, 5)
  expect((await limiter.peek(ada)).remaining).toBe(9)
})

test.each(PLACES)('in %s, a peek is not adjusted, and a charge of cost 0 is', async (_place, make) => {
  const { limiter } = make({ policy: hourly })
  await limiter.adjust(await limiter.peek(ada), 5)
  expect((await limiter.peek(ada)).remaining).toBe(10)
  await limiter.adjust(await limiter.charge(ada, { cost: 0 }), 5)
  expect((await limiter.peek(ada)).remaining).toBe(5)
})

test('where the store is down, a change rejects, and reaches the fallback store', async () => {
  const clock = manualClock(1000 * HOUR_MS)
  const { store, fail } = remoteStore(clock)
  const limiter = createLimiter({ policy: banned(hourly), key, store, onStoreError: 'local' })
  limiter.events.on('storeError', () => {})
  fail(true)
  const failure = async () => limiter.blockFor(ada, '1h')
  await expect(failure()).rejects.toThrow(StoreError)
  const local = await limiter.charge(ada)
  expect(local).toMatchObject({ allowed: false, source: 'local' })
  const other = await limiter.charge({ id: 'eve' }, { cost: 2 })
  await limiter.adjust(other, 7)
  expect(await limiter.charge({ id: 'eve' })).toMatchObject({ remaining: 2, source: 'local' })
  fail(false)
  const closed = createLimiter({ policy: hourly, key, store, name: 'closed', onStoreError: 'deny' })
  fail(true)
  await expect((async () => closed.penalize(ada, 1))()).rejects.toThrow('connection lost')
})

test('while the circuit breaker is open, a change still reaches the fallback store', async () => {
  const { store, fail } = remoteStore(manualClock(1000 * HOUR_MS))
  const limiter = createLimiter({ policy: hourly, key, store, onStoreError: 'local' })
  limiter.events.on('storeError', () => {})
  fail(true)
  for (let i = 0; i < 20; i++) await limiter.charge({ id: 'eve' })
  await expect(async () => limiter.penalize(ada, 6)).rejects.toThrow('circuit breaker is open')
  expect(await limiter.peek(ada)).toMatchObject({ remaining: 4, source: 'local' })
})

const mistakes: readonly (readonly [string, (limiter: Limiter<Id>) => Promise<void>, string])[] = [
  [
    'units',
    (limiter) => limiter.penalize(ada, 1.5),
    'createLimiter: units must be a whole number of at least 0, got 1.5. Did you mean units: 2?',
  ],
  [
    'a reward',
    (limiter) => limiter.reward(ada, -1),
    'createLimiter: units must be a whole number of at least 0, got -1. Did you mean units: 0?',
  ],
  [
    'a duration',
    (limiter) => limiter.blockFor(ada, 'long'),
    'createLimiter: duration must be a duration from 1 ms to 10 years',
  ],
  [
    'a block without a ban',
    (limiter) => limiter.blockFor(ada, '1m'),
    'createLimiter: blockFor requires a limit whose policy is a ban. Wrap the policy: ban(policy,',
  ],
]

test.each(mistakes)('rejects with a TypeError for wrong %s', async (_what, call, message) => {
  const limiter = createLimiter({ policy: hourly, key, store: memoryStore() })
  await expect(call(limiter)).rejects.toThrow(TypeError)
  await expect(call(limiter)).rejects.toThrow(message)
})

test('throws a TypeError for the name of no limit', async () => {
  const limits = [
    { name: 'requests', policy: hourly, key },
    { name: 'tokens', policy: banned(hourly), key },
  ]
  const limiter = createLimiter({ limits, store: memoryStore() })
  const decision = await limiter.charge(ada)
  const message = `createLimiter: limits must be names of this limiter's limits, got "token". The limits are 'requests', 'tokens'.`
  const misspelt = { limits: ['requests', 'token'] }
  await expect(limiter.penalize(ada, 1, misspelt)).rejects.toThrow(message)
  await expect(limiter.reward(decision, 1, misspelt)).rejects.toThrow(message)
  await expect(limiter.blockFor(ada, '1m', misspelt)).rejects.toThrow(message)
  await expect(limiter.adjust(decision, 5, misspelt)).rejects.toThrow(message)
  await expect(limiter.refund(decision, misspelt)).rejects.toThrow(message)
  await expect(limiter.forget(ada, misspelt)).rejects.toThrow(message)
  await expect(limiter.penalize(ada, 1, { limits: 'tokens' as never })).rejects.toThrow(
    'createLimiter: limits must be an array of limit names, got "tokens".',
  )
  const single = createLimiter({ policy: hourly, key, store: memoryStore() })
  await expect(single.penalize(ada, 1, misspelt)).rejects.toThrow("The limits are '10-in-1h'.")
})

test('throws a TypeError for a misspelt option', async () => {
  const limiter = createLimiter({ policy: hourly, key, store: memoryStore() })
  const decision = await limiter.charge(ada)
  const misspelt = { limit: ['10-in-1h'] } as never
  const message = 'createLimiter: there is no option "limit". Did you mean limits?'
  await expect(limiter.penalize(ada, 1, misspelt)).rejects.toThrow(message)
  await expect(limiter.adjust(decision, 5, misspelt)).rejects.toThrow(message)
  await expect(limiter.refund(decision, misspelt)).rejects.toThrow(message)
  await expect(limiter.forget(ada, misspelt)).rejects.toThrow(message)
  await expect(limiter.forget(ada, null as never)).rejects.toThrow(
    'createLimiter: options must be an object, got null.',
  )
  expect((await limiter.peek(ada)).remaining).toBe(9)
})

test('throws a TypeError for a promise of a decision, which has nothing to change', async () => {
  const limiter = createLimiter({ policy: hourly, key, store: memoryStore() })
  const promise = Promise.resolve(await limiter.charge(ada)) as never
  const message = 'createLimiter: decision must not be a promise. Await what limiter.charge returns.'
  await expect(limiter.refund(promise)).rejects.toThrow(message)
  await expect(limiter.adjust(promise, 2)).rejects.toThrow(message)
  await expect(limiter.release(promise)).rejects.toThrow(message)
})

test('a limit whose policy depends on the request is named by that policy', async () => {
  const limiter = createLimiter({ policy: () => hourly, key, store: memoryStore() })
  await limiter.penalize(ada, 4, { limits: ['10-in-1h'] })
  expect((await limiter.peek(ada)).remaining).toBe(6)
})

test('throws a TypeError for a block longer than the longest ban', async () => {
  const limiter = createLimiter({ policy: banned(hourly), key, store: memoryStore() })
  const message =
    "createLimiter: duration must be at most the longest ban of the limit 10-in-1h, 1h, got 2h. Add '2h' to the for option of that ban."
  await expect(limiter.blockFor(ada, '2h')).rejects.toThrow(message)
})

test('forget with an address releases the requests from there that have no key', async () => {
  const key = ({ user }: { user?: { id: string }; ip: string }) => user?.id
  const limiter = createLimiter({ limit: 1, window: '1h', key })
  const anonymous = { ip: '203.0.113.7', headers: {} }
  expect(await limiter.charge(anonymous)).toMatchObject({ allowed: true })
  expect(await limiter.charge(anonymous)).toMatchObject({ allowed: false })
  await limiter.forget({ ip: '203.0.113.7' })
  expect(await limiter.charge(anonymous)).toMatchObject({ allowed: true })
})
