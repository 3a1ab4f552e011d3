import {
  byField,
  byHeader,
  byIp,
  byRoute,
  byUser,
  createLimiter,
  fixedWindow,
  type KeyFunction,
  memoryStore,
  StoreError,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { brokenStore, promisingStore, storeThat } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'
import { storeOf } from '../../support/store-of.js'

const five = fixedWindow({ limit: 5, window: '1h' })
const store = () => memoryStore({ clock: () => 0 })

describe('a subject', () => {
  test.each<[string, KeyFunction<unknown>, object, object]>([
    ['an address', byIp(), { ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
    ['a user', byUser(), { user: { id: 7 } }, { user: { id: 8 } }],
    ['a field', byField('name'), { body: { name: 'bob' } }, { body: { name: 'eve' } }],
    [
      'what a function reads',
      (subject) => (subject as { socketId?: number }).socketId,
      { socketId: 1 },
      { socketId: 2 },
    ],
  ])('may be any object, identified by %s', async (_what, key, one, other) => {
    const limiter = createLimiter({ policy: five, store: store(), key })
    expect(await limiter.charge(one)).toMatchObject({ allowed: true, remaining: 4 })
    expect(await limiter.charge({ ...one })).toMatchObject({ remaining: 3 })
    expect(await limiter.charge(other)).toMatchObject({ remaining: 4 })
  })

  test.each([{}, []])('may even be %p, if no key needs an address', async (subject) => {
    const limiter = createLimiter({ policy: five, key: [byRoute(), byHeader('x-key'), byField('name')] })
    expect(await limiter.charge(subject)).toMatchObject({ allowed: true, remaining: 4 })
  })
})

describe('charge', () => {
  test('returns a promise, with any store', async () => {
    const later = createLimiter({ policy: five, store: promisingStore() }).charge({ ip: '192.0.2.1' })
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toMatchObject({ allowed: true, remaining: 4 })
    expect(createLimiter({ policy: five }).charge({ ip: '192.0.2.1' })).toBeInstanceOf(Promise)
  })

  test('takes its own cost in place of the limits’ costs', async () => {
    const limits = [
      { name: 'a', policy: five, cost: 2 },
      { name: 'b', policy: five, key: () => 'b', cost: () => 3 },
    ]
    const limiter = createLimiter({ limits, store: store() })
    const remaining = async (cost?: number) => {
      const { parts } = await limiter.charge({ ip: '192.0.2.1' }, cost === undefined ? {} : { cost })
      return parts.map((part) => part.remaining)
    }
    expect(await remaining(1)).toEqual([4, 4])
    expect(await remaining()).toEqual([2, 1])
    expect(await remaining(0)).toEqual([2, 1])
  })

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1.5, '2', null, true])(
    'throws for a cost of %p',
    async (cost) => {
      const limiter = createLimiter({ policy: five, store: store() })
      await expect(limiter.charge({ ip: '192.0.2.7' }, { cost: cost as number })).rejects.toThrow(
        /^createLimiter: cost must be a whole number of at least 0, got/,
      )
      expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 5 })
    },
  )

  test('rejects with what an option function throws', async () => {
    const fail = (): never => {
      throw new RangeError('no such user')
    }
    await expect(createLimiter({ policy: five, key: fail }).charge({ ip: '192.0.2.7' })).rejects.toThrow(
      RangeError,
    )
    await expect(
      createLimiter({ policy: five, key: async () => fail() }).charge({ ip: '192.0.2.7' }),
    ).rejects.toThrow(RangeError)
  })

  test('returns the limit that denies for longest, with its retry time', async () => {
    const limits = [
      { name: 'short', policy: tokenBucket({ capacity: 1, refill: 1, every: '1s' }) },
      { name: 'long', policy: tokenBucket({ capacity: 1, refill: 1, every: '1m' }) },
    ]
    const limiter = createLimiter({ limits, store: store() })
    limiter.charge({ ip: '192.0.2.7' })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({
      allowed: false,
      limitName: 'long',
      retryAfterMs: 60_000,
    })
  })
})

describe('peek', () => {
  test('returns the figures and takes nothing, not even a key', async () => {
    const memory = store()
    const limiter = createLimiter({ policy: five, store: memory })
    for (let i = 0; i < 10; i++)
      expect(await limiter.peek({ ip: '192.0.2.1' })).toMatchObject({ remaining: 5 })
    expect(memory.size).toBe(0)
    limiter.charge({ ip: '192.0.2.1' }, { cost: 5 })
    expect(await limiter.peek({ ip: '192.0.2.1' })).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('charges nothing, and does not emit limited', async () => {
    const limiter = createLimiter({ policy: five, store: brokenStore(), onStoreError: 'deny' })
    const emitted: unknown[] = []
    limiter.events
      .on('denied', () => emitted.push('limited'))
      .on('storeError', () => emitted.push('storeError'))
    expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ source: 'fail-closed' })
    expect(emitted).toEqual(['storeError'])
  })
})

describe('refund', () => {
  test('does not call the store for limits that were not charged', async () => {
    const store = promisingStore()
    const apply = jest.spyOn(store, 'apply')
    const limits = [
      { name: 'all', policy: five, key: () => 'a' },
      { name: 'named', policy: five, key: () => 'a', skip: () => true },
    ]
    const limiter = createLimiter({ limits, store: customStore(store) })
    await limiter.refund(await limiter.charge('a'), { limits: ['named'] })
    expect(apply).toHaveBeenCalledTimes(1) // by the charge
  })

  test('returns what a decision took, once', async () => {
    const limiter = createLimiter({ policy: five, store: store() })
    limiter.charge({ ip: '192.0.2.7' })
    const decision = await limiter.charge({ ip: '192.0.2.7' }, { cost: 3 })
    limiter.refund(decision)
    expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 4 })
    limiter.refund(decision)
    expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 4 })
  })

  test('returns nothing for a denial, a peek, or a copy of a decision', async () => {
    const limiter = createLimiter({ policy: five, store: store() })
    const taken = await limiter.charge({ ip: '192.0.2.7' }, { cost: 5 })
    for (const decision of [
      await limiter.charge({ ip: '192.0.2.7' }),
      await limiter.peek({ ip: '192.0.2.7' }),
      JSON.parse(JSON.stringify(taken)),
    ]) {
      await limiter.refund(decision)
      expect(await limiter.peek({ ip: '192.0.2.7' })).toMatchObject({ remaining: 0 })
    }
  })

  test.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('connection lost'))],
    [
      'throws',
      () => {
        throw new Error('connection lost')
      },
    ],
  ])('rejects with StoreError when the store %s', async (_how, refund) => {
    const store = storeOf({ ...promisingStore(), refund: refund as () => void })
    const limiter = createLimiter({ policy: five, store })
    const decision = await limiter.charge({ ip: '192.0.2.7' })
    await expect((async () => limiter.refund(decision))()).rejects.toThrow(StoreError)
  })
})

test('forget of a decision frees the keys that were charged, whatever the subject is by now', async () => {
  const limits = [
    { name: 'ip', policy: five, key: byIp() },
    { name: 'name', policy: five, key: byField('name') },
  ]
  const limiter = createLimiter({ limits, store: store() })
  const subject = { ip: '192.0.2.1', body: { name: 'ada' } }
  const decision = await limiter.charge(subject)
  const remaining = async () => (await limiter.peek(subject)).parts.map((part) => part.remaining)
  await limiter.forget(decision, { limits: ['name'] })
  expect(await remaining()).toEqual([4, 5])
  await limiter.forget({ ...decision }) // a copy is no decision, and as a subject it is nobody
  expect(await remaining()).toEqual([4, 5])
  subject.body.name = 'eve'
  await limiter.charge(subject)
  await limiter.forget(decision)
  expect(await remaining()).toEqual([5, 4])
})

test('forget of a decision without a charge forgets nothing', async () => {
  const key = (ip: string) => ip
  const limiter = createLimiter({ limits: [{ policy: five, key, skip: (ip) => ip === '' }], store: store() })
  await limiter.charge('192.0.2.1')
  await limiter.forget(await limiter.charge(''))
  expect(await limiter.peek('192.0.2.1')).toMatchObject({ remaining: 4 })
  const open = createLimiter({ policy: five, key: () => 'one', store: brokenStore() })
  open.events.on('storeError', () => undefined)
  await open.forget(await open.charge({ ip: '192.0.2.7' }))
})

test('forget frees one subject, in the store and in the fallback', async () => {
  const limiter = createLimiter({ policy: five, store: brokenStore(), onStoreError: 'local' })
  limiter.events.on('storeError', () => undefined)
  for (const ip of ['192.0.2.1', '192.0.2.2']) await limiter.charge({ ip }, { cost: 5 })
  await limiter.forget({ ip: '192.0.2.1' })
  expect(await limiter.charge({ ip: '192.0.2.1' })).toMatchObject({ allowed: true, source: 'local' })
  expect(await limiter.charge({ ip: '192.0.2.2' })).toMatchObject({ allowed: false })
  const own = createLimiter({ policy: five, store: promisingStore() })
  await own.charge({ ip: '192.0.2.1' }, { cost: 5 })
  await own.forget({ ip: '192.0.2.1' })
  expect(await own.peek({ ip: '192.0.2.1' })).toMatchObject({ remaining: 5 })
})

test('limited is emitted for each denial, with the decision and the subject', () => {
  const limiter = createLimiter({ policy: five, store: store() })
  const emitted: unknown[] = []
  limiter.events.on('denied', (decision, subject) => emitted.push([decision.remaining, subject]))
  const subject = { ip: '192.0.2.1' }
  limiter.charge(subject, { cost: 4 })
  limiter.charge(subject, { cost: 2 })
  expect(emitted).toEqual([[1, subject]])
})

test('a store that fails emits one process warning if there is no listener', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const limiter = createLimiter({ policy: five, store: brokenStore() })
  for (let i = 0; i < 3; i++)
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, source: 'local' })
  const emitted = warn.mock.calls.filter(([message]) => String(message).includes('faulty: connection lost'))
  expect(emitted).toHaveLength(1)
  warn.mockRestore()
})

test('close closes a store that can be closed', async () => {
  const close = jest.fn(async () => undefined)
  await createLimiter({ policy: five, store: { ...storeThat(() => []), close } }).close()
  expect(close).toHaveBeenCalledTimes(1)
  await expect(createLimiter({ policy: five }).close()).resolves.toBeUndefined()
})

test('no rejection is unhandled when an async key fails together with another function', async () => {
  const fail = (): never => {
    throw new Error('no such user')
  }
  const limiter = createLimiter({ policy: five, key: [async () => fail(), fail] })
  await expect((async () => limiter.charge({ ip: '192.0.2.7' }))()).rejects.toThrow('no such user')
  await nextTurn() // an unhandled rejection would end this test
})

test('a charge waits for the store for timeoutMs, after the functions among its options', async () => {
  jest.useFakeTimers()
  const limiter = createLimiter<object>({
    limit: 1,
    window: '1m',
    key: () => new Promise((resolve) => setTimeout(() => resolve('ada'), 60)),
    store: customStore({ name: 'hanging', apply: () => new Promise(() => undefined) }),
  })
  limiter.events.on('storeError', () => undefined)
  const decided = jest.fn()
  Promise.resolve(limiter.charge({ ip: '192.0.2.7' })).then(decided)
  await jest.advanceTimersByTimeAsync(159)
  expect(decided).not.toHaveBeenCalled()
  await jest.advanceTimersByTimeAsync(3)
  expect(decided).toHaveBeenCalledWith(expect.objectContaining({ source: 'local' }))
  jest.useRealTimers()
})
