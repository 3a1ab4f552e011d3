import { consecutive, type MemoryStore, memoryStore, tokenBucket } from 'headgate'
import { keyedPolicies, part, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../../support/store-calls.js'
import { listenForWarnings } from '../../../support/warnings.js'

const START_MS = 1_790_000_000_000
const daily = tokenBucket({ capacity: 10, refill: 10, every: '1d' })
const row = consecutive({ limit: 10 })

let nowMs = START_MS
let warnings: () => unknown[]
beforeEach(() => {
  nowMs = START_MS
  warnings = listenForWarnings()
})
afterEach(() => jest.restoreAllMocks())

function boundedStore(maxKeys: number): MemoryStore {
  return memoryStore({ maxKeys, clock: () => nowMs })
}

/** Charges `keys` keys one after the other. Returns the largest size seen. */
function flood(store: MemoryStore, keys: number, keysPerCharge = 1): number {
  let largest = 0
  for (let i = 0; i < keys; i += keysPerCharge) {
    chargeStore(store, [Array.from({ length: keysPerCharge }, (_, j) => part(`flood-${i + j}`, row))])
    largest = Math.max(largest, store.size)
  }
  return largest
}

test.each([1, 2, 3])('20,000 keys that never repeat, %d per charge, stay within maxKeys', (keysPerCharge) => {
  expect(flood(boundedStore(1000), 20_000, keysPerCharge)).toBe(1000)
})

test('charges that join a known key with new ones stay within maxKeys, and the known key keeps its count', () => {
  const store = boundedStore(5)
  for (let i = 0; i < 5; i++) chargeStore(store, [[part(`busy-${i}`, daily, 5)]])
  for (let i = 0; i < 8; i++) {
    const [verdict] = chargeStore(store, [[part('known', daily), part(`new-${i}`, daily)]])
    expect(verdict?.parts[0]?.remaining).toBe(9 - i)
    expect(store.size).toBeLessThanOrEqual(5)
  }
})

test('a charge does not evict a key of its own, even if that is nearest to fresh', async () => {
  const store = boundedStore(2)
  await takeOne(store, 'busy', daily, 5)
  await takeOne(store, 'known', daily, 1)
  const [verdict] = chargeStore(store, [[part('known', daily), part('new', daily)]])
  expect(verdict?.parts.map(({ remaining }) => remaining)).toEqual([8, 9])
  expect(store.size).toBe(2)
  expect(await remainingOf(store, daily, ['known', 'new', 'busy'])).toEqual([8, 9, 10])
})

test('a key named twice in one charge needs room once', () => {
  const store = boundedStore(1)
  const [verdict] = chargeStore(store, [[part('only', daily, 2), part('only', daily, 2)]])
  expect(verdict?.parts.map(({ remaining }) => remaining)).toEqual([8, 6])
  expect(store.size).toBe(1)
  expect(warnings()).toEqual([])
})

test('keys that were only peeked at, or denied their first charge, are not stored', () => {
  const store = boundedStore(10)
  chargeStore(store, [[part('looked', daily, 0)], [part('denied', daily, 11)]])
  refundStore(store, [{ ...part('refunded', daily), takenAtMs: nowMs }])
  forgetStore(store, keyedPolicies(daily, 'forgotten'))
  expect(store.size).toBe(0)
})

test('a first charge that is denied evicts nothing from a full store', async () => {
  const store = boundedStore(2)
  chargeStore(store, [[part('a', daily)], [part('b', daily)]])
  for (let i = 0; i < 10; i++) chargeStore(store, [[part(`denied-${i}`, daily, 11)]])
  expect(await remainingOf(store, daily, ['a', 'b'])).toEqual([9, 9])
})

test('the store removes keys that are fresh again as new ones come, without a timer', () => {
  const store = memoryStore({ clock: () => nowMs })
  const quick = tokenBucket({ capacity: 1, refill: 1, every: '1s' })
  for (let i = 0; i < 20_000; i++, nowMs++) chargeStore(store, [[part(`key-${i}`, quick)]])
  expect(store.size).toBeLessThan(3000) // 1000 of them are live
})

test.each([0, 1, 2])('a state that is fresh again is evicted first, wherever it is (%d)', async (fresh) => {
  const store = boundedStore(3)
  const quick = tokenBucket({ capacity: 10, refill: 10, every: '1s' })
  const keys = ['a', 'b', 'c']
  for (const [i, key] of keys.entries()) await takeOne(store, key, i === fresh ? quick : daily, 1)
  nowMs += 1000
  await takeOne(store, 'new', daily)
  const inUse = keys.filter((_key, i) => i !== fresh)
  expect(await remainingOf(store, daily, [...inUse, 'new'])).toEqual([9, 9, 9])
})

test.each([
  [4, 1, 3],
  [1, 4, 3],
  [9, 8, 7],
  [10, 10, 9],
])('with none fresh, the key with the fewest units taken of %d, %d and %d is evicted', async (...taken) => {
  const store = boundedStore(3)
  const keys = ['a', 'b', 'c']
  for (const [i, key] of keys.entries()) await takeOne(store, key, daily, taken[i] as number)
  expect(await takeOne(store, 'new', daily)).toMatchObject({ allowed: true, remaining: 9 })
  expect(store.size).toBe(3)
  const least = taken.indexOf(Math.min(...taken))
  const left = taken.map((each, i) => (i === least ? 10 : 10 - each))
  expect(await remainingOf(store, daily, keys)).toEqual(left)
  expect(warnings()).toEqual([])
})

test('eviction compares the share of each limit that is left, not the number of units', async () => {
  const store = boundedStore(2)
  const large = tokenBucket({ capacity: 1000, refill: 1000, every: '1d' })
  await takeOne(store, 'large', large, 900)
  await takeOne(store, 'small', daily, 1)
  await takeOne(store, 'new', daily)
  expect(await remainingOf(store, large, ['large'])).toEqual([100])
  expect(await remainingOf(store, daily, ['small'])).toEqual([10])
})

test('a flood of new keys never evicts a client at its limit', () => {
  const store = boundedStore(100)
  const limited = Array.from({ length: 50 }, (_, i) => `limited-${i}`)
  for (const [i, key] of limited.entries())
    chargeStore(store, [[i % 2 ? part(key, daily, 10) : part(key, row, 10)]])
  flood(store, 20_000)
  const again = chargeStore(
    store,
    limited.map((key, i) => [part(key, i % 2 ? daily : row)]),
  )
  expect(again.map(({ allowed }) => allowed)).toEqual(limited.map(() => false))
})
