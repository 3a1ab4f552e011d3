import { ban, fixedWindow, memoryStore, slidingWindow, tokenBucket } from 'headgate'
import { PageTable } from '../../../../src/stores/memory/page-table.js'
import { PolicyRegistry, type RegistryEntry } from '../../../../src/stores/memory/policy-registry.js'
import { StateTable } from '../../../../src/stores/memory/state-table.js'
import { part } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore } from '../../../support/store-calls.js'

const START_MS = 1_790_000_000_000
const quick = tokenBucket({ capacity: 10, refill: 10, every: '1s' })
const slow = tokenBucket({ capacity: 10, refill: 10, every: '1d' })

afterEach(() => jest.restoreAllMocks())

test('fresh states are removed even while only known keys are charged', () => {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  chargeStore(store, [[part('known', slow)]])
  for (let i = 0; i < 5000; i++) chargeStore(store, [[part(`key-${i}`, quick, 10)]])
  nowMs += 1000
  for (let i = 0; i < 100_000; i++) chargeStore(store, [[part('known', slow, 0)]])
  expect(store.size).toBe(1)
  expect(chargeStore(store, [[part('known', slow, 0)]])[0]?.parts[0]?.remaining).toBe(9)
})

test('states of every width count towards maxKeys, and are removed when they are fresh', () => {
  let nowMs = START_MS
  const store = memoryStore({ maxKeys: 100, clock: () => nowMs })
  const policies = [
    quick,
    fixedWindow({ limit: 10, window: '1s' }),
    slidingWindow({ limit: 10, window: '1s' }),
    slidingWindow({ limit: 10, window: '1s', slices: 100 }),
  ]
  for (let i = 0; i < 1000; i++)
    chargeStore(
      store,
      policies.map((policy) => [part(`${policy.spec.kind}-${i}`, policy)]),
    )
  expect(store.size).toBe(100)
  nowMs += 3000
  for (let i = 0; i < 100_000; i++) chargeStore(store, [[part('known', slow)]])
  expect(store.size).toBe(1)
})

test('policies made for each charge are released with their states', () => {
  let nowMs = START_MS
  const table = new StateTable(1_000_000)
  const acquire = jest.spyOn(PolicyRegistry.prototype, 'acquire')
  for (let i = 1; i <= 20_000; i++, nowMs++) {
    const policy = fixedWindow({ limit: i, window: '100ms' })
    table.seek(`key-${i}`, policy)
    const { next } = policy.take(undefined, nowMs, i)
    if (next === undefined || !table.makeRoom(nowMs, 1)) throw new Error('there is room')
    table.put(policy, next)
  }
  const numbers = acquire.mock.results.map(({ value }) => (value as RegistryEntry).id)
  expect(numbers).toHaveLength(20_000)
  expect(Math.max(...numbers)).toBeLessThan(500) // at most 100 of them are live
})

test('a client with a record of bans is evicted later than one that took more units', () => {
  const store = memoryStore({ maxKeys: 2, clock: () => START_MS })
  const banning = ban(slow, { after: 3, within: '1h', for: ['1h'] })
  chargeStore(store, [[part('recorded', banning, 2)], [part('plain', slow, 4)]])
  chargeStore(store, [[part('new', slow)]])
  const [recorded, plain] = chargeStore(store, [[part('recorded', banning, 0)], [part('plain', slow, 0)]])
  expect([recorded?.parts[0]?.remaining, plain?.parts[0]?.remaining]).toEqual([8, 10])
})

test('a failed allocation of a page leaves nothing of the new key behind', () => {
  const table = new StateTable(10)
  const { next } = slow.take(undefined, START_MS, 1)
  const acquire = jest.spyOn(PolicyRegistry.prototype, 'acquire')
  const pageWithRoom = jest.spyOn(PageTable.prototype, 'pageWithRoom').mockImplementation(() => {
    throw new RangeError('Array buffer allocation failed')
  })
  table.seek('key', slow)
  expect(() => table.put(slow, next ?? [])).toThrow('allocation')
  expect([table.size, acquire.mock.calls.length]).toEqual([0, 0])
  pageWithRoom.mockRestore()
  table.put(slow, next ?? [])
  expect([table.size, acquire.mock.calls.length]).toEqual([1, 1])
})

test('forget removes a key, whatever policy it names', () => {
  const store = memoryStore()
  const window = slidingWindow({ limit: 10, window: '1d' })
  chargeStore(store, [[part('one', slow)], [part('other', slow)]])
  chargeStore(store, [[part('window', window)]])
  forgetStore(store, [
    { key: 'one', policy: window },
    { key: 'window', policy: slow },
  ])
  expect(store.size).toBe(1)
  expect(chargeStore(store, [[part('one', slow)]])[0]?.parts[0]?.remaining).toBe(9)
})

test('keys of any characters have states of their own', () => {
  const store = memoryStore()
  const keys = [
    '',
    '\0',
    '\0\0',
    'a',
    'a\0',
    'ab',
    'ß',
    'ж',
    '6\x04',
    '\ud800',
    '\udfff',
    '\ufffd',
    '🚦',
    'x'.repeat(256),
    'x'.repeat(512),
  ]
  for (const [i, key] of keys.entries()) chargeStore(store, [[part(key, slow, i % 10)]])
  for (const [i, key] of keys.entries()) {
    expect([key, chargeStore(store, [[part(key, slow, 0)]])[0]?.parts[0]?.remaining]).toEqual([
      key,
      10 - (i % 10),
    ])
  }
})
