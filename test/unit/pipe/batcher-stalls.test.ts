import { setImmediate as turn } from 'node:timers/promises'
import type { Batching } from '../../../src/stores/store.js'
import { heldBack, itemBatcher } from './batch-senders.js'

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

/** Advances the clock, and runs all that is due by then. */
async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms)
  for (let i = 0; i < 3; i++) await turn()
}

/**
 * The key of an item is the row of its tens: 21 is in that of 20. A large one has two: 11_020 is in that of
 * 11 and that of 20.
 */
function rowsOf(item: number): readonly string[] {
  const rows = item < 1000 ? [item] : [Math.floor(item / 1000), item % 1000]
  return rows.map((row) => `row ${Math.floor(row / 10)}`)
}

/** A batcher whose batches have one item, one of them in flight, with a stall timeout of 50 ms. */
function narrowBatcher(batching: Partial<Batching> = {}) {
  const hand = heldBack()
  const keysOf = batching.locksKeys ? rowsOf : undefined
  const ask = itemBatcher(hand.apply, { maxKeys: 1, maxInFlight: 1, ...batching }, keysOf)
  return { ...hand, ask: (...items: number[]) => Promise.allSettled(items.map(ask)) }
}

test.each([
  ['50 ms by default', {}, 50],
  ['stallTimeoutMs', { stallTimeoutMs: 300 }, 300],
])('a batch without an answer holds up the next one for %s', async (_title, options, stallTimeoutMs) => {
  const { ask, batches } = narrowBatcher(options)
  ask(1, 2)
  await pass(stallTimeoutMs - 3)
  expect(batches).toEqual([[1]])
  await pass(6)
  expect(batches).toEqual([[1], [2]])
})

test('a batch that is answered within the stall timeout is never overtaken', async () => {
  const { ask, batches, at } = narrowBatcher()
  const answers = ask(1, 2, 3, 4, 5)
  for (const i of [0, 1, 2, 3, 4]) {
    await pass(40)
    expect(batches).toHaveLength(i + 1)
    at(i).answer()
    await pass(0)
  }
  expect((await answers).every(({ status }) => status === 'fulfilled')).toBe(true)
})

test('items that need a locked key wait in order, and the others overtake them', async () => {
  const { ask, batches, at } = narrowBatcher({ locksKeys: true, maxKeys: 100 })
  ask(10)
  await pass(0)
  ask(11, 20, 12, 30)
  await pass(60)
  expect(batches).toEqual([[10], [20, 30]])
  at(1).answer()
  ask(13, 21)
  await pass(10)
  expect(batches).toEqual([[10], [20, 30], [21]])
  at(2).answer()
  await pass(1000)
  expect(batches).toHaveLength(3)
  at(0).answer()
  await pass(0)
  expect(batches).toEqual([[10], [20, 30], [21], [11, 12, 13]])
})

test('an item never overtakes a waiting one that needs one of its keys', async () => {
  const { ask, batches, at } = narrowBatcher({ locksKeys: true, maxKeys: 100 })
  ask(10)
  await pass(0)
  ask(11_020, 21, 40) // the first needs the locked row, and that of the second
  await pass(60)
  expect(batches).toEqual([[10], [40]])
  at(1).answer()
  at(0).fail(new Error('the connection is lost'))
  await pass(0)
  expect(batches).toEqual([[10], [40], [11_020, 21]])
})

test('no batch leaves while maxPending are without an answer, and all leave once one is answered', async () => {
  const { ask, batches, at } = narrowBatcher({ maxPending: 2 })
  const answers = ask(1, 2, 3, 4, 5)
  await pass(60)
  expect(batches).toEqual([[1], [2]])
  const later = ask(6)
  await pass(10_000)
  expect(batches).toEqual([[1], [2]])
  at(0).answer()
  for (let i = 2; i < 6; i++) {
    await pass(1)
    expect(batches).toHaveLength(i + 1)
    at(i).answer()
  }
  await pass(0)
  expect(batches).toEqual([[1], [2], [3], [4], [5], [6]])
  at(1).fail(new Error('given up'))
  expect((await answers).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  expect(await later).toMatchObject([{ value: 6 }])
})

test('batches in flight beside stalled ones count towards maxPending', async () => {
  const { ask, batches } = narrowBatcher({ maxInFlight: 2, maxPending: 3 })
  ask(1, 2, 3, 4, 5, 6)
  await pass(60)
  expect(batches).toEqual([[1], [2], [3]])
  await pass(10_000)
  expect(batches).toEqual([[1], [2], [3]])
})

test('a batch also takes all items whose keys it locks', async () => {
  const { apply, batches, at } = heldBack()
  const ask = itemBatcher(apply, { maxKeys: 100, maxInFlight: 2, locksKeys: true }, rowsOf)
  const answers = Array.from({ length: 60 }, (_, i) => ask(i < 50 ? i % 10 : i))
  await pass(0)
  expect(batches.map((batch) => batch.length)).toEqual([50, 10])
  at(0).answer()
  at(1).answer()
  expect(await Promise.all(answers)).toHaveLength(60)
})
