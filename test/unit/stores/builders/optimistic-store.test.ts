import { ban, consecutive, fixedWindow } from 'headgate'
import { type Operation, optimisticStore, type Store, StoreError } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { chargeOne, part, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { describeStoreConformance } from '../../../support/store-conformance.js'
import { optimisticStoreIn as storeIn, VersionedDatabase } from './versioned-database.js'

const three = consecutive({ limit: 3 })
const LIMIT = 100
const hundred = fixedWindow({ limit: LIMIT, window: '1000d' })

const chargeOf = (...keys: readonly string[]): Operation => ({
  type: 'charge',
  parts: keys.map((key) => part(key, hundred)),
})

const CAPABILITIES = { settableClock: true, anyKey: true, atomicAcrossKeys: true }

describeStoreConformance('a store built by optimisticStore', {
  makeStore() {
    const clock = manualClock()
    return { store: storeIn(new VersionedDatabase(clock)), advance: (ms) => void clock.advance(ms) }
  },
  capabilities: CAPABILITIES,
})

describeStoreConformance(
  'a store built by optimisticStore, of which every other commit meets another',
  {
    makeStore() {
      const clock = manualClock()
      const database = new VersionedDatabase(clock)
      let commits = 0
      const store = storeIn(database, {
        commit: (transaction) => ++commits % 2 === 0 && database.commit(transaction),
      })
      return { store, advance: (ms) => void clock.advance(ms) }
    },
    capabilities: CAPABILITIES,
  },
  'sample',
)

test('twenty processes that charge the same keys in opposite orders are exact', async () => {
  const database = new VersionedDatabase()
  const stores = Array.from({ length: 20 }, () => storeIn(database))
  const charges = stores.flatMap((store, i) => {
    const parts = [part('a', hundred), part('b', hundred)]
    return Array.from({ length: 10 }, () => chargeOne(store, ...(i % 2 ? parts : parts.toReversed())))
  })
  const admitted = (await Promise.all(charges)).filter(({ allowed }) => allowed).length
  expect(admitted).toBe(LIMIT)
  expect(await remainingOf(stores[0] as Store, hundred, ['a', 'b'])).toEqual([0, 0])
  expect(database.conflicts).toBeGreaterThan(0)
})

describe('a batch', () => {
  test('is one attempt: one read, and one commit', async () => {
    const database = new VersionedDatabase()
    await storeIn(database).apply(Array.from({ length: 50 }, (_, i) => chargeOf(`key-${i}`)))
    expect([database.reads.length, database.commits.length]).toEqual([1, 1])
  })

  test('of charges of one key that arrive meanwhile is one attempt', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database)
    const charges = Array.from({ length: 50 }, () => store.apply([chargeOf('hot')]))
    await Promise.all(charges)
    expect([database.reads.length, database.conflicts]).toEqual([1, 0])
    expect(await remainingOf(store, hundred, ['hot'])).toEqual([LIMIT - 50])
  })

  test('commits nothing if it changes nothing', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database)
    await store.apply([chargeOf('key')])
    const { length } = database.commits
    await chargeOne(store, part('key', hundred, LIMIT), part('other', hundred))
    expect(database.commits).toHaveLength(length)
  })

  test('checks the keys that are written, and those that their charges have read', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database)
    await store.apply([chargeOf('a'), chargeOf('read')])
    const version = database.entries.get('read')?.version
    await store.apply([
      { type: 'charge', parts: [part('new', hundred), part('read', hundred, 0)] },
      { type: 'charge', parts: [part('a', hundred, LIMIT)] }, // is denied, and needs no check
    ])
    const { checks, writes } = database.commits.at(-1) ?? {}
    expect(checks).toEqual([
      { key: 'new', version: undefined },
      { key: 'read', version },
    ])
    expect(writes?.map(({ key }) => key)).toEqual(['new'])
  })

  test('that meets another is split, until the key in contention is alone', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database, {
      async commit(transaction) {
        if (transaction.checks.length > 1 && transaction.checks.some(({ key }) => key === 'key-5'))
          return false
        return database.commit(transaction)
      },
    })
    const operations = Array.from({ length: 16 }, (_, i) => chargeOf(`key-${i}`))
    const outcomes = await store.apply(operations)
    expect(outcomes.every((outcome) => !(outcome instanceof Error) && outcome.type === 'charge')).toBe(true)
    expect(database.commits.map(({ checks }) => checks.length).sort()).toEqual([1, 1, 2, 4, 8])
  })

  test('is never split within a charge, nor between charges of one key', async () => {
    const database = new VersionedDatabase()
    let commits = 0
    const store = storeIn(database, {
      commit: (transaction) => ++commits > 1 && database.commit(transaction),
    })
    await store.apply([chargeOf('a', 'b'), chargeOf('c'), chargeOf('b', 'd'), chargeOf('c')])
    expect(database.commits.map(({ writes }) => writes.map(({ key }) => key))).toEqual([
      ['a', 'b', 'd'],
      ['c'],
    ])
    expect(await remainingOf(store, hundred, ['a', 'b', 'c', 'd'])).toEqual([99, 98, 98, 99])
  })
})

describe('a failure', () => {
  test('of a commit whose reply was lost is unknown, and not repeated', async () => {
    const database = new VersionedDatabase()
    let commits = 0
    const store = storeIn(database, {
      async commit(transaction) {
        commits++
        await database.commit(transaction)
        throw new Error('socket hang up')
      },
    })
    const failure = await chargeOne(store, part('key', hundred)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ message: 'versioned: socket hang up', replied: false, unsent: false })
    expect(commits).toBe(1)
    expect(await remainingOf(storeIn(database), hundred, ['key'])).toEqual([LIMIT - 1])
  })

  test('of one half of a batch leaves the outcomes of the other half', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database, {
      async commit(transaction) {
        if (transaction.checks.length > 1) return false
        if (transaction.checks[0]?.key === 'a') throw new Error('socket hang up')
        return database.commit(transaction)
      },
    })
    const outcomes = await store.apply([chargeOf('a'), chargeOf('b')])
    expect(outcomes).toMatchObject([{ message: 'versioned: socket hang up' }, { allowed: true }])
  })

  test('of a temporary kind is retried, in smaller parts', async () => {
    const database = new VersionedDatabase()
    let failures = 0
    const store = storeIn(database, {
      isTemporary: (error) => (error as Error).message === 'busy',
      async read(keys) {
        if (failures++ < 3) throw new Error('busy')
        return database.read(keys)
      },
    })
    const outcomes = await store.apply([chargeOf('a'), chargeOf('b')])
    expect(outcomes).toMatchObject([{ allowed: true }, { allowed: true }])
  })

  test('of a temporary kind that lasts for two seconds is the error', async () => {
    const store = storeIn(new VersionedDatabase(), {
      isTemporary: () => true,
      read: () => Promise.reject(new Error('busy')),
      toStoreError: (error) => new StoreError('versioned', `try later: ${(error as Error).message}`),
    })
    await expect(chargeOne(store, part('a', three))).rejects.toThrow('versioned: try later: busy')
  }, 10_000)

  test('after two seconds of contention changed nothing', async () => {
    const database = new VersionedDatabase()
    const store = storeIn(database, { commit: () => false })
    const failure = await chargeOne(store, part('key', three)).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      message: 'versioned: other processes changed the key key during every attempt',
      replied: true,
    })
    expect(database.entries.size).toBe(0)
  }, 10_000)

  test.each([
    [{ read: () => [] }, /read must return an array with an element for each key/],
    [{ commit: () => 'yes' }, /commit must return true if it wrote, and false if not, got "yes"/],
    [{ clock: () => Number.NaN }, /clock: the time must be a finite number/],
  ])('of the functions that were given is the error: %#', async (wrong, message) => {
    const store = storeIn(new VersionedDatabase(), wrong as object)
    await expect(chargeOne(store, part('key', three))).rejects.toThrow(message)
  })
})

test('a key that cannot be read, or holds something else, fails alone until it is forgotten', async () => {
  const database = new VersionedDatabase()
  database.put('foreign', '"a text"')
  const store = storeIn(database, {
    async read(keys) {
      const rows = await database.read(keys)
      return keys.map((key, i) => (key === 'torn' ? new StoreError('versioned', 'torn') : rows[i]))
    },
  })
  const outcomes = await store.apply([chargeOf('foreign'), chargeOf('torn'), chargeOf('good')])
  expect(outcomes).toMatchObject([
    { message: expect.stringContaining('holds a value that is not a state'), replied: true },
    { message: 'versioned: torn' },
    { allowed: true },
  ])
  expect(database.entries.get('foreign')).toMatchObject({ text: '"a text"', version: 1 })
  await store.apply([{ type: 'forget', key: 'foreign', policy: hundred }])
  expect(database.entries.has('foreign')).toBe(false)
})

test('a state of a clock that is slightly ahead is read at its time, and kept that much longer', async () => {
  const nowMs = 1_000_000
  const database = new VersionedDatabase(() => nowMs)
  const policy = fixedWindow({ limit: 5, window: '10s', startsAt: 'first-request' })
  await chargeOne(storeIn(database, { clock: () => nowMs + 400 }), part('key', policy, 2))
  const { parts, atMs } = await chargeOne(storeIn(database), part('key', policy), part('other', policy))
  expect(parts.map(({ remaining }) => remaining)).toEqual([2, 4])
  expect(atMs - nowMs).toBe(400)
  expect(database.commits.at(-1)?.writes.map(({ ttlMs }) => ttlMs)).toEqual([10_400, 10_400])
})

test('a batch in which a key changes between the read and the commit is decided on the new state', async () => {
  const database = new VersionedDatabase()
  const policy = ban(consecutive({ limit: 1 }), { after: 2, within: '1d', for: '1d' })
  const store = storeIn(database, {
    async read(keys) {
      const rows = await database.read(keys)
      if (database.commits.length === 1) await chargeOne(storeIn(database), part('key', policy))
      return rows
    },
  })
  await chargeOne(store, part('key', policy)) // takes the only unit
  const { parts } = await chargeOne(store, part('key', policy)) // after another denial, this one bans
  expect(parts[0]?.isBanned).toBe(true)
})

test('wrong options throw with the fix', () => {
  for (const [options, message] of [
    [{}, /^optimisticStore: 3 options are wrong:\n- name must be .*\n- read must .*\n- commit must /],
    [{ name: 'x', commit: () => true }, /optimisticStore: read must be a function.* Write read:/s],
    [{ name: 'x', read: () => [] }, /optimisticStore: commit must be a function.* Write commit:/s],
    [{ name: 'x', read: () => [], comit: () => true }, /there is no option "comit"\. Did you mean commit\?/],
  ] as const)
    expect(() => optimisticStore(options as never)).toThrow(message)
})
