import { ban, fixedWindow, memoryStore, type Policy, quota, slidingWindow, tokenBucket } from 'headgate'
import { PageTable } from '../../../../src/stores/memory/page-table.js'
import { StateTable } from '../../../../src/stores/memory/state-table.js'
import { type Parts, part } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../../support/store-calls.js'

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
      policies.map((policy) => [part(`${policy.spec.kind}-${policy.width}-${i}`, policy)]),
    )
  expect(store.size).toBe(100)
  nowMs += 3000
  for (let i = 0; i < 100_000; i++) chargeStore(store, [[part('known', slow)]])
  expect(store.size).toBe(1)
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
  const table = new StateTable(10, () => 0)
  const pageWithRoom = jest.spyOn(PageTable.prototype, 'pageWithRoom').mockImplementation(() => {
    throw new RangeError('Array buffer allocation failed')
  })
  expect(() => table.take(slow, 'key', START_MS, 1)).toThrow('allocation')
  expect([table.size, table.read('key', slow)]).toEqual([0, undefined])
  pageWithRoom.mockRestore()
  expect(table.take(slow, 'key', START_MS, 1)?.remaining).toBe(9)
  expect(table.size).toBe(1)
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

test('a state of another width is a foreign key, which only forget removes', () => {
  const store = memoryStore()
  const window = slidingWindow({ limit: 10, window: '1d' })
  chargeStore(store, [[part('one', slow)]])
  const foreign = { message: expect.stringContaining('is not a state of its policy'), replied: true }
  const take = (policy: Policy) => store.apply([{ type: 'take', key: 'one', policy, units: 1 }])
  const charge = (parts: Parts) => store.apply([{ type: 'charge', parts }])
  expect(take(window)).toMatchObject([foreign])
  expect(charge([part('one', window)])).toMatchObject([foreign])
  expect(charge([part('one', window), part('two', slow)])).toMatchObject([foreign])
  expect(take(slow)).toMatchObject([{ taken: 1, remaining: 8 }])
  forgetStore(store, [{ key: 'one', policy: window }])
  expect(take(window)).toMatchObject([{ taken: 1, remaining: 9 }])
})

test('a refund under other numbers does not shorten how long a state is kept', () => {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  chargeStore(store, [[part('key', slow, 5)]])
  refundStore(store, [{ ...part('key', quick), takenAtMs: nowMs }])
  nowMs += 10_000
  for (let i = 0; i < 1000; i++) chargeStore(store, [[part('other', slow, 0)]])
  expect(chargeStore(store, [[part('key', slow, 0)]])[0]?.parts[0]?.remaining).toBe(6)
})

test('a quota is kept for as long as the system clock says, after it was set back', () => {
  let nowMs = START_MS
  let aheadMs = 0
  const table = new StateTable(10, () => aheadMs)
  const { periodAt } = quota({ limit: 1, per: 'day' })
  const daily = { ...slow, periodAt } as Policy // counts as a quota; its day begins with the charge
  table.take(daily, 'quota', nowMs, 10)
  table.take(slow, 'bucket', nowMs, 10)
  const sweepAt = (ms: number) => {
    nowMs = START_MS + ms
    for (let i = 0; i < 1000; i++) table.take(slow, 'other', nowMs, 0)
    return [table.read('quota', daily), table.read('bucket', slow)].map((state) => state !== undefined)
  }
  aheadMs = -3_600_000
  expect(sweepAt(86_400_000)).toEqual([true, false])
  expect(sweepAt(86_400_000 + 3_600_000)).toEqual([false, false])
})
