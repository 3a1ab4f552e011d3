import { consecutive, type MemoryStore, memoryStore, type Policy, tokenBucket } from 'headgate'
import { keyedPolicies, part, receiptOf } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../../support/store-calls.js'
import { listenForWarnings } from '../../../support/warnings.js'

const START_MS = 1_790_000_000_000
const LIMITED = ['limited-1', 'limited-2', 'limited-3']
const daily = tokenBucket({ capacity: 2, refill: 2, every: '1d' })

let nowMs = START_MS
let warnings: () => unknown[]
let store: MemoryStore

beforeEach(() => {
  nowMs = START_MS
  warnings = listenForWarnings()
  store = memoryStore({ maxKeys: 3, clock: () => nowMs })
  chargeStore(
    store,
    LIMITED.map((key) => [part(key, daily, 2)]),
  )
})
afterEach(() => jest.restoreAllMocks())

function answers(keys: readonly string[], policy: Policy = daily): boolean[] {
  return chargeStore(
    store,
    keys.map((key) => [part(key, policy)]),
  ).map(({ allowed }) => allowed)
}

test('new keys share one overflow bucket when all stored clients are at their limit', () => {
  expect(answers(['new-1', 'new-2', 'new-3', 'new-1'])).toEqual([true, true, false, false])
  expect(store.size).toBe(3)
})

test('charges of several parts share the overflow bucket with those of one part', () => {
  const [first, second] = chargeStore(store, [
    [part('new-1', daily), part('new-2', daily)],
    [part('new-3', daily), part('new-4', daily)],
  ])
  expect([first?.allowed, second?.allowed]).toEqual([true, false])
  expect(answers(['new-5'])).toEqual([false])
  expect(store.size).toBe(3)
})

test('a charge of a limited client and a new key is denied, and takes nothing from the overflow bucket', () => {
  const [verdict] = chargeStore(store, [[part('limited-1', daily), part('new-1', daily)]])
  expect(verdict?.allowed).toBe(false)
  expect(answers(['new-2', 'new-3', 'new-4'])).toEqual([true, true, false])
})

test('limited clients stay limited while new keys come', () => {
  for (let i = 0; i < 1000; i++) answers([`new-${i}`])
  expect(answers(LIMITED)).toEqual([false, false, false])
})

test('each policy has an overflow bucket of its own', () => {
  const hourly = tokenBucket({ capacity: 1, refill: 1, every: '1h' })
  expect(answers(['new-1', 'new-2', 'new-3'])).toEqual([true, true, false])
  expect(answers(['new-4', 'new-5'], hourly)).toEqual([true, false])
})

test('the overflow bucket refills like any other state', async () => {
  const row = consecutive({ limit: 1 })
  forgetStore(store, keyedPolicies(daily, ...LIMITED))
  chargeStore(
    store,
    LIMITED.map((key) => [part(key, row)]),
  )
  expect(answers(['new-1', 'new-2'])).toEqual([true, true])
  const { retryAfterMs } = await takeOne(store, 'new-3', daily)
  expect(retryAfterMs).toBe(12 * 3600 * 1000)
  nowMs += retryAfterMs - 1
  expect(answers(['new-4'])).toEqual([false])
  nowMs += 1
  expect(answers(['new-5', 'new-6'])).toEqual([true, false])
})

test('a new key gets a state of its own as soon as there is room', () => {
  expect(answers(['new-1', 'new-2', 'new-3'])).toEqual([true, true, false])
  forgetStore(store, keyedPolicies(daily, 'limited-2'))
  expect(answers(['new-3', 'new-3', 'new-3'])).toEqual([true, true, false])
  expect(answers(['limited-1', 'limited-3'])).toEqual([false, false])
})

test('a warning reports once that the store is full', () => {
  expect(warnings()).toEqual([])
  for (let i = 0; i < 10; i++) answers([`new-${i}`])
  chargeStore(store, [[part('new-a', daily), part('new-b', daily)]])
  expect(warnings()).toEqual(['HEADGATE_MEMORY_FULL'])
})

test('peeking at a new key needs no room, and emits no warning', async () => {
  expect(await takeOne(store, 'new-1', daily, 0)).toMatchObject({ allowed: true, remaining: 2 })
  expect(warnings()).toEqual([])
})

describe('overflow buckets of policies made for each request', () => {
  const limitOf = (i: number) => tokenBucket({ capacity: 1, refill: 1, every: 86_400_000 + i })
  const isAllowed = (i: number) => answers([`new-${i}`], limitOf(i))[0]
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

  test('are kept for the last 1,000 of them at least, and for no more than 2,000', () => {
    expect(numbers(0, 2500).filter((i) => !isAllowed(i))).toEqual([])
    expect(numbers(1500, 2500).filter(isAllowed)).toEqual([])
    expect(numbers(0, 500).filter((i) => !isAllowed(i))).toEqual([])
  })

  test('are kept where they are in use, however many others come', () => {
    expect(isAllowed(0)).toBe(true)
    expect(numbers(1, 2000).filter((i) => !isAllowed(i) || isAllowed(0))).toEqual([])
  })

  test('are kept while another one is charged repeatedly', () => {
    numbers(0, 1000).map(isAllowed)
    expect(numbers(0, 500).filter(() => isAllowed(999))).toEqual([])
    expect(numbers(0, 1000).filter(isAllowed)).toEqual([])
  })

  test('are kept until the charge of all their keys is decided', () => {
    numbers(0, 1000).map(isAllowed)
    const oldAndNew = [...numbers(0, 10), ...numbers(1000, 1010)]
    const charge = oldAndNew.map((i) => part(`new-${i}`, limitOf(i)))
    const [verdict] = chargeStore(store, [charge])
    expect(verdict?.parts.map(({ allowed }) => allowed)).toEqual(oldAndNew.map((i) => i >= 1000))
  })
})

test('an overflow bucket is fresh once all its units are refunded, even if they are refunded twice', () => {
  const verdicts = chargeStore(store, [[part('new-1', daily)], [part('new-2', daily)]])
  const refunds = verdicts.map(({ atMs }, i) => ({ ...part(`new-${i + 1}`, daily), takenAtMs: atMs }))
  refundStore(store, [...refunds, ...refunds])
  expect(answers(['new-3', 'new-4', 'new-5'])).toEqual([true, true, false])
})

test('a refund to the overflow bucket leaves out what has been refilled since', async () => {
  await takeOne(store, 'new-1', daily)
  const receipt = await receiptOf(store, 'new-2', daily, 1)
  nowMs += 13 * 3600 * 1000
  refundStore(store, [receipt])
  chargeStore(
    store,
    LIMITED.map((key) => [part(key, daily, 1)]),
  )
  expect(answers(['new-3', 'new-4', 'new-5'])).toEqual([true, true, false])
})
