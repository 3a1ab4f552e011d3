import { consecutive, fixedWindow, tokenBucket } from 'headgate'
import { type CompareAndSwapOptions, compareAndSwapStore, type Store, StoreError } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { pipeTo } from '../../../../src/pipe/store-end.js'
import { chargeAll, chargeOne, part, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { describeStoreConformance } from '../../../support/store-conformance.js'
import { storeIn, VersionedDatabase } from './versioned-database.js'

const three = consecutive({ limit: 3 })

describeStoreConformance('a store built by compareAndSwapStore', {
  makeStore() {
    const clock = manualClock()
    const store = storeIn(new VersionedDatabase(clock), { clock })
    return { store, advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: false },
})

test('thirty processes that charge one key admit exactly its limit, and none fails', async () => {
  const database = new VersionedDatabase()
  const policy = tokenBucket({ capacity: 500, refill: 500, every: '1000d' })
  const stores = Array.from({ length: 30 }, () => storeIn(database))
  const charges = stores.flatMap((store) =>
    Array.from({ length: 40 }, () => chargeOne(store, part('hot', policy))),
  )
  const verdicts = await Promise.all(charges)
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(500)
})

test('thirty processes that charge the same keys in opposite orders take what they admit', async () => {
  const database = new VersionedDatabase()
  const policy = fixedWindow({ limit: 100, window: '1000d' })
  const stores = Array.from({ length: 30 }, () => storeIn(database))
  const charges = stores.flatMap((store, i) => {
    const parts = [part('a', policy), part('b', policy)]
    return Array.from({ length: 10 }, () => chargeOne(store, ...(i % 2 ? parts : parts.toReversed())))
  })
  const admitted = (await Promise.all(charges)).filter(({ allowed }) => allowed).length
  expect(admitted).toBeGreaterThan(0)
  expect(admitted).toBeLessThanOrEqual(100)
  const left = 100 - admitted
  expect(await remainingOf(stores[0] as Store, policy, ['a', 'b'])).toEqual([left, left])
})

test('a batch reads its keys by one call, and concurrent charges of a busy key share a write', async () => {
  const database = new VersionedDatabase()
  const store = storeIn(database)
  await chargeAll(
    store,
    ['a', 'b', 'c', 'a'].map((key) => [part(key, three)]),
  )
  expect(database.reads).toEqual([['a', 'b', 'c']])
  database.swaps = 0
  const busy = tokenBucket({ capacity: 1000, refill: 1000, every: '1000d' })
  await Promise.all(Array.from({ length: 1000 }, () => chargeOne(store, part('busy', busy))))
  expect(database.swaps).toBeLessThan(20)
})

test('no call reads more keys than a batch may have', async () => {
  const database = new VersionedDatabase()
  const store = compareAndSwapStore({
    name: 'few',
    batching: { maxKeys: 2, maxInFlight: 3 },
    read: (keys) => database.read(keys),
    swap: (change) => database.swap(change),
  })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => chargeOne(store, part(key, three))))
  expect(Math.max(...database.reads.map(({ length }) => length))).toBe(2)
})

test('an operation fails once others have changed its key for two seconds', async () => {
  const store = compareAndSwapStore({ name: 'busy', read: () => [undefined], swap: () => false })
  const failure = await chargeOne(store, part('hot', three)).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreError)
  expect(failure).toMatchObject({
    message: 'busy: other processes changed the key hot during every attempt',
    replied: true,
  })
}, 10_000)

describe('a failure', () => {
  /** Charges the keys `good` and `bad` in one batch. Returns the outcomes. */
  const outcomesOf = (options: Partial<CompareAndSwapOptions<number>>) => {
    const database = new VersionedDatabase()
    const store = compareAndSwapStore({
      name: 'faulty',
      read: (keys) => database.read(keys),
      swap: (change) => database.swap(change),
      ...options,
    })
    return store.apply(['good', 'bad'].map((key) => ({ type: 'charge', parts: [part(key, three)] })))
  }
  const allowed = expect.objectContaining({ type: 'charge', allowed: true })

  test('of the read of one key fails the operations of that key', async () => {
    const error = new StoreError('faulty', 'the server of this key is down')
    const read = (keys: readonly string[]) => keys.map((key) => (key === 'bad' ? error : undefined))
    expect(await outcomesOf({ read })).toEqual([allowed, error])
  })

  test('of a read fails the operations of all of its keys', async () => {
    const read = () => Promise.reject(new Error('connection lost'))
    const failed = expect.objectContaining({ message: 'faulty: connection lost', replied: false })
    expect(await outcomesOf({ read })).toEqual([failed, failed])
  })

  test('of a write fails the operations of its key', async () => {
    const swap = ({ key }: { key: string }) => {
      if (key === 'bad') throw new Error('disk full')
      return true
    }
    expect(await outcomesOf({ swap })).toEqual([
      allowed,
      expect.objectContaining({ message: 'faulty: disk full' }),
    ])
  })

  test.each<[string, Partial<CompareAndSwapOptions<number>>, string]>([
    [
      'a read that returns too little',
      { read: () => [undefined] },
      'read must return an array with an element for each key, got an array of 1',
    ],
    [
      'a read that returns a map',
      { read: () => new Map() as never },
      'read must return an array with an element for each key, got an object',
    ],
    [
      'a swap that returns nothing',
      { swap: () => undefined as never },
      'swap must return true if it wrote, and false if not, got undefined',
    ],
  ])('of %s says what is wrong', async (_what, options, message) => {
    const failed = expect.objectContaining({ message: `faulty: ${message}` })
    expect(await outcomesOf(options)).toEqual([failed, failed])
  })
})

test.each(['[]', '[1,2,3]', '"a text"', '{}', 'null', '[null]'])(
  'a key that holds %s fails alone, stays as it is, and can be forgotten',
  async (text) => {
    const database = new VersionedDatabase()
    const store = storeIn(database)
    database.put('theirs', text)
    const [theirs, ours] = await store.apply(
      ['theirs', 'ours'].map((key) => ({ type: 'charge', parts: [part(key, three)] })),
    )
    expect(theirs).toMatchObject({
      message: expect.stringContaining('the key theirs holds a value that is not a state of its policy'),
      replied: true,
    })
    expect(ours).toMatchObject({ allowed: true })
    expect(database.entries.get('theirs')).toMatchObject({ text })
    await store.apply([{ type: 'forget', key: 'theirs', policy: three }])
    expect(await remainingOf(store, three, ['theirs'])).toEqual([3])
  },
)

test('two processes whose clocks are less than a second apart count as one', async () => {
  const database = new VersionedDatabase()
  const policy = tokenBucket({ capacity: 10, refill: 10, every: '10s' })
  const [ahead, behind] = [900, 0].map((ms) => storeIn(database, { clock: () => 1_000_000 + ms })) as [
    Store,
    Store,
  ]
  let allowed = 0
  for (let i = 0; i < 40; i++)
    for (const store of [ahead, behind]) if ((await chargeOne(store, part('key', policy))).allowed) allowed++
  expect(allowed).toBeLessThanOrEqual(11)
})

test('a state from a clock that is almost a second ahead is read, whatever fraction the clock shows', async () => {
  const policy = fixedWindow({ limit: 5, window: '10s', startsAt: 'first-request' })
  for (const fraction of [0, 0.2, 0.5, 0.9])
    for (const aheadMs of [998.5, 999, 999.3, 999.9, 1000, 1000.1]) {
      const database = new VersionedDatabase()
      const nowMs = 1_000_000 + fraction
      database.put('key', JSON.stringify([2, nowMs + aheadMs]))
      const store = storeIn(database, { clock: () => nowMs })
      expect((await chargeOne(store, part('key', policy))).parts).toMatchObject([
        { allowed: true, remaining: 2 },
      ])
    }
})

test('a charge without keys has the time of the clock', async () => {
  const store = storeIn(new VersionedDatabase(), { clock: () => 12_345 })
  expect(await store.apply([{ type: 'charge', parts: [] }])).toEqual([
    { type: 'charge', allowed: true, atMs: 12_345, parts: [] },
  ])
})

test('keys may be stored under other names, and what is optional is part of the store', () => {
  const database = new VersionedDatabase()
  const optional = { serverOf: () => 'a', onLimitsLost: () => () => undefined, close: async () => undefined }
  const store = compareAndSwapStore({
    name: 'named',
    read: (keys) => database.read(keys),
    swap: (change) => database.swap(change),
    storageKey: (key) => `limits/${key}`,
    ...optional,
  })
  expect(store).toMatchObject(optional)
  return chargeOne(store, part('key', three)).then(() => {
    expect([...database.entries.keys()]).toEqual(['limits/key'])
  })
})

test.each<[object, string]>([
  [{}, 'compareAndSwapStore: 3 options are wrong'],
  [
    { name: 'a', read() {} },
    'compareAndSwapStore: swap must be a function, got undefined. Write swap: async ({ key',
  ],
  [
    { name: '', read() {}, swap() {} },
    'compareAndSwapStore: name must be a name, got "". Write name: \'my-database\'.',
  ],
  [
    { name: 'a', read: 'SELECT', swap() {} },
    'compareAndSwapStore: read must be a function, got a string. Write read',
  ],
  [
    { name: 'a', read() {}, swap() {}, clock: 5 },
    'compareAndSwapStore: clock must be a function, got a number.',
  ],
  [{ name: 'a', read() {}, swap() {}, swop() {} }, 'swop'],
  [
    { name: 'a', read() {}, swap() {}, batching: { maxKeys: 0, maxInFlight: 1 } },
    'compareAndSwapStore: batching.maxKeys must be a whole number of at least 1, or Infinity, got 0.',
  ],
  [
    { name: 'a', read() {}, swap() {}, batching: 256 },
    'compareAndSwapStore: batching must be an object or false, got a number.',
  ],
])('wrong options are an error: %p', (options, message) => {
  expect(() => compareAndSwapStore(options as never)).toThrow(TypeError)
  expect(() => compareAndSwapStore(options as never)).toThrow(message)
})

test('a limiter can use the store', async () => {
  const pipe = pipeTo(storeIn(new VersionedDatabase()))
  const outcome = await new Promise((resolve) => {
    pipe.send({ type: 'take', key: 'a', policy: three, units: 2 }, resolve)
  })
  expect(outcome).toMatchObject({ type: 'take', taken: 2, remaining: 1 })
})

test('a `storageKey` that throws fails its operation alone', async () => {
  const database = new VersionedDatabase()
  const storageKey = (key: string) => {
    if (key === 'long') throw new Error('key too long')
    return key
  }
  const store = storeIn(database, { storageKey })
  const charge = (...keys: string[]) =>
    ({ type: 'charge', parts: keys.map((key) => part(key, three)) }) as const
  const outcomes = await store.apply([charge('a', 'long'), charge('b', 'c'), charge('long'), charge('d')])
  expect(outcomes.map((outcome) => outcome instanceof StoreError)).toEqual([true, false, true, false])
  expect(await remainingOf(store, three, ['a', 'b'])).toEqual([3, 2])
})
