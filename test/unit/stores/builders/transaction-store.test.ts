import { consecutive, fixedWindow, tokenBucket } from 'headgate'
import { type State, type Store, StoreError, type TransactionWrite, transactionStore } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { chargeOne, part, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../../support/store-calls.js'
import { describeStoreConformance } from '../../../support/store-conformance.js'
import { LockingDatabase, storeIn } from './locking-database.js'

const three = consecutive({ limit: 3 })

describeStoreConformance('a store built by transactionStore', {
  makeStore() {
    const clock = manualClock()
    const store = storeIn(new LockingDatabase(clock))
    return { store, advance: (ms) => void clock.advance(ms) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})

/** A store whose driver is synchronous, in a Map that rolls back. */
function synchronousStore(clock: () => number): Store {
  let rows = new Map<string, State>()
  return transactionStore<Map<string, State>>({
    name: 'synchronous',
    transaction(run) {
      const copy = new Map(rows)
      const result = run(copy)
      rows = copy
      return result
    },
    lockAndRead: (copy) => ({ states: copy, nowMs: clock() }),
    write(copy, writes) {
      for (const { key, state } of writes) {
        if (state === undefined) copy.delete(key)
        else copy.set(key, state)
      }
    },
  })
}

describeStoreConformance(
  'a store built by transactionStore with a synchronous driver',
  {
    makeStore() {
      const clock = manualClock()
      return { store: synchronousStore(clock), advance: (ms) => void clock.advance(ms) }
    },
    capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
  },
  'sample',
)

test('twenty processes that charge the same keys in opposite orders are exact, without a deadlock of their own', async () => {
  const database = new LockingDatabase()
  const policy = fixedWindow({ limit: 100, window: '1000d' })
  const stores = Array.from({ length: 20 }, () => storeIn(database))
  const charges = stores.flatMap((store, i) => {
    const parts = [part('a', policy), part('b', policy)]
    return Array.from({ length: 10 }, () => chargeOne(store, ...(i % 2 ? parts : parts.toReversed())))
  })
  const admitted = (await Promise.all(charges)).filter(({ allowed }) => allowed).length
  expect(admitted).toBe(100)
  expect(await remainingOf(stores[0] as Store, policy, ['a', 'b'])).toEqual([0, 0])
})

test('a batch is one transaction, which locks each key once, in order', async () => {
  const database = new LockingDatabase()
  const locked: (readonly string[])[] = []
  const store = storeIn(database, {
    lockAndRead(transaction, keys) {
      locked.push(keys)
      return database.lockAndRead(transaction, keys)
    },
  })
  await store.apply(
    ['c', 'a', 'c', 'b'].map((key) => ({ type: 'charge', parts: [part(key, three), part('a', three)] })),
  )
  expect(locked).toEqual([['a', 'b', 'c']])
  expect(database.transactions).toBe(1)
})

test('writes say when they expire, and whether the key is new, in the order of the keys', async () => {
  const database = new LockingDatabase(() => 1000)
  const written: TransactionWrite[] = []
  const store = storeIn(database, {
    write({ writes }, changes) {
      written.push(...changes)
      writes.push(...changes)
    },
  })
  const policy = tokenBucket({ capacity: 10, refill: 1, every: '1s' })
  await chargeOne(store, part('b', policy, 2), part('a', three))
  await chargeOne(store, part('b', policy), part('c', policy, 0))
  expect(written).toMatchObject([
    { key: 'a', isNew: true, ttlMs: Infinity, expiresAtMs: Infinity, policy: three },
    { key: 'b', isNew: true, ttlMs: 2000, expiresAtMs: 3000 },
    { key: 'b', isNew: false, ttlMs: 3000, expiresAtMs: 4000 },
  ])
  await store.apply([{ type: 'forget', key: 'a', policy: three }])
  await store.apply([{ type: 'forget', key: 'missing', policy: three }])
  expect(written.slice(3)).toEqual([
    expect.objectContaining({ key: 'a', state: undefined, isNew: false, ttlMs: 0 }),
  ])
})

describe('a failure', () => {
  const failing = (error: unknown, times: number) => {
    const database = new LockingDatabase()
    let failures = 0
    const store = storeIn(database, {
      isTemporary: (reason) => (reason as Error).message === 'deadlock',
      isDuplicate: (reason) => (reason as Error).message === 'duplicate key',
      transaction(run) {
        if (failures++ < times) throw error
        return database.transaction(run)
      },
    })
    return { database, store }
  }

  test.each(['deadlock', 'duplicate key'])('of a temporary kind is tried again: %s', async (message) => {
    const { store } = failing(new Error(message), 3)
    expect(await chargeOne(store, part('a', three))).toMatchObject({ allowed: true })
  })

  test('of another kind fails the batch', async () => {
    const cause = new Error('connection lost')
    const { store } = failing(cause, 1)
    const failure = await chargeOne(store, part('a', three)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ message: 'locking: connection lost', cause })
  })

  test('that lasts for two seconds fails the batch', async () => {
    const { store } = failing(new Error('deadlock'), Number.POSITIVE_INFINITY)
    await expect(chargeOne(store, part('a', three))).rejects.toThrow('locking: deadlock')
  }, 10_000)

  const lost = () => Promise.reject(new Error('connection lost'))
  test.each<[string, boolean, Parameters<typeof storeIn>[1]]>([
    ['before the transaction', true, { transaction: lost }],
    ['before it has locked the keys', true, { lockAndRead: lost }],
    ['before it has written', true, { write: lost }],
    [
      'during its commit',
      false,
      {
        async transaction(run) {
          await run({ locked: [], writes: [] })
          return lost()
        },
      },
    ],
  ])('of the connection %s: it is known whether nothing has changed', async (_when, unsent, options) => {
    const store = storeIn(new LockingDatabase(), options)
    await expect(chargeOne(store, part('a', three))).rejects.toMatchObject({
      message: 'locking: connection lost',
      unsent,
    })
  })

  test.each([
    ['has lost the reply to a commit', (run: () => unknown) => run()],
    ['has given up on what still locks the keys', (run: () => unknown) => void run()],
  ])(
    'of a transaction that is repeated after one %s: it may have changed something',
    async (_what, begin) => {
      const locked = new LockingDatabase()
      let runs = 0
      const store = storeIn(locked, {
        async transaction(run) {
          const tx = { locked: [], writes: [] }
          await begin(() => run(tx))
          return run(tx)
        },
        lockAndRead(tx, keys) {
          runs += 1
          return runs > 1 ? lost() : locked.lockAndRead(tx, keys)
        },
      })
      const failure = await chargeOne(store, part('a', three)).catch((error) => error)
      expect(failure).toMatchObject({ message: 'locking: connection lost', unsent: false })
    },
  )

  test('of charges that need no transaction leaves the others of the batch unsent', async () => {
    const store = storeIn(new LockingDatabase(), { chargeEach: lost })
    const outcomes = await store.apply([
      { type: 'charge', parts: [part('a', three)] },
      { type: 'refund', ...part('b', three), takenAtMs: 1 },
    ])
    expect(outcomes).toMatchObject([
      { message: 'locking: connection lost', unsent: false },
      { message: 'locking: connection lost', unsent: true },
    ])
  })

  test('of the user of the builder has its own error', async () => {
    const database = new LockingDatabase()
    const store = storeIn(database, {
      lockAndRead: () => Promise.reject(new Error('no such table')),
      toStoreError: (error) => new StoreError('locking', `run prepare(): ${(error as Error).message}`),
    })
    await expect(chargeOne(store, part('a', three))).rejects.toThrow('locking: run prepare(): no such table')
  })

  test.each([
    [
      { states: {}, nowMs: 1 },
      'lockAndRead must return { states, nowMs } with a Map of states, got an object',
    ],
    [undefined, 'lockAndRead must return { states, nowMs } with a Map of states, got undefined'],
    [{ states: new Map(), nowMs: '1' }, 'lockAndRead: the time must be a finite number of milliseconds'],
  ])('of lockAndRead that returns %p says what is wrong', async (locked, message) => {
    const store = storeIn(new LockingDatabase(), { lockAndRead: () => locked as never })
    await expect(chargeOne(store, part('a', three))).rejects.toThrow(message)
  })
})

test.each(['[]', '[1,2,3]', '"a text"', 'null'])(
  'a row that holds %s fails the operations of its key alone',
  async (text) => {
    const database = new LockingDatabase()
    database.rows.set('theirs', text)
    const store = storeIn(database)
    const outcomes = await store.apply(
      ['theirs', 'ours'].map((key) => ({ type: 'charge', parts: [part(key, three)] })),
    )
    expect(outcomes).toEqual([
      expect.objectContaining({
        message: expect.stringContaining(
          'locking: the key theirs holds a value that is not a state of its policy',
        ),
        replied: true,
      }),
      expect.objectContaining({ allowed: true }),
    ])
    expect(database.rows.get('theirs')).toBe(text)
  },
)

test.each<[string, (run: (tx: never) => unknown) => unknown, string]>([
  [
    'commits before its statements',
    (run) => run(undefined as never),
    'transaction must await what run returns',
  ],
  [
    'returns nothing',
    async (run) => void (await run({ locked: [], writes: [] } as never)),
    'transaction must return',
  ],
])('a transaction that %s is an error', async (_what, transaction, message) => {
  const store = transactionStore<{ locked: string[]; writes: TransactionWrite[] }>({
    name: 'wrong',
    transaction: transaction as never,
    lockAndRead: async () => ({ states: new Map(), nowMs: 1 }),
    write: () => undefined,
  })
  await expect(chargeOne(store, part('a', three))).rejects.toThrow(message)
})

test('charges of one part may be decided without a transaction, unless others need their keys', async () => {
  const database = new LockingDatabase()
  const figures = { allowed: true, remaining: 1, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 }
  const store = storeIn(database, {
    chargeEach: async (charges) =>
      charges.map(({ parts }) =>
        parts[0]?.key === 'fast' ? { type: 'charge', allowed: true, atMs: 5, parts: [figures] } : undefined,
      ),
  })
  expect(await chargeOne(store, part('fast', three))).toMatchObject({ atMs: 5 })
  expect(database.transactions).toBe(0)
  expect(await chargeOne(store, part('slow', three))).toMatchObject({ allowed: true })
  expect(database.transactions).toBe(1)
  const keys = ['slow', 'fast', 'twice', 'twice']
  expect(
    await chargeStore(
      store,
      keys.map((key) => [part(key, three)]),
    ),
  ).toMatchObject([
    { allowed: true, parts: [{ remaining: 1 }] },
    { atMs: 5 },
    { parts: [{ remaining: 2 }] },
    { parts: [{ remaining: 1 }] },
  ])
  expect(database.transactions).toBe(2)
  await store.apply([
    { type: 'charge', parts: [part('fast', three)] },
    { type: 'forget', key: 'fast', policy: three },
  ])
  expect(database.transactions).toBe(3)
})

test('a batch without keys needs no transaction', async () => {
  const database = new LockingDatabase()
  expect(await storeIn(database).apply([{ type: 'charge', parts: [] }])).toMatchObject([
    { allowed: true, parts: [] },
  ])
  expect(database.transactions).toBe(0)
})

test.each<[object, string]>([
  [{}, 'transactionStore: 4 options are wrong'],
  [
    { name: 'a', transaction() {}, write() {} },
    'transactionStore: lockAndRead must be a function, got undefined. Write lockAndRead: async (transaction, keys)',
  ],
  [
    { name: 'a', transaction() {}, lockAndRead() {}, write() {}, isTemporary: true },
    'transactionStore: isTemporary must be a function, got true.',
  ],
])('wrong options are an error: %p', (options, message) => {
  expect(() => transactionStore(options as never)).toThrow(TypeError)
  expect(() => transactionStore(options as never)).toThrow(message)
})
