import { setImmediate as turn } from 'node:timers/promises'
import type { BatcherOptions } from '../../../../src/stores/shared/batcher.js'
import { asker, byHand } from './batcher-kit.js'

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

/** Lets some time pass, and then all that is to be done by it. */
async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms)
  for (let i = 0; i < 3; i++) await turn()
}

/** One batch of one item at a time. */
function oneByOne(options: Partial<BatcherOptions<number>> = {}) {
  const hand = byHand()
  const ask = asker(hand.send, { maxWeight: 1, maxInFlight: 1, ...options })
  return { ...hand, ask: (...items: number[]) => Promise.allSettled(items.map(ask)) }
}

/** As before, after a first batch has taken so long. */
async function usedTo(ms: number) {
  const made = oneByOne()
  made.ask(0)
  await pass(ms)
  made.at(0).answer()
  await pass(0)
  return made
}

test('a batch is stuck after 250 ms where none has landed before', async () => {
  const { ask, batches } = oneByOne()
  ask(1, 2)
  await pass(245)
  expect(batches).toEqual([[1]])
  await pass(10)
  expect(batches).toEqual([[1], [2]])
})

test.each([
  ['25 ms at the least', 1, 25],
  ['400 ms where the last one took 100 ms', 100, 400],
  ['2 s at the most', 2000, 2000],
])('a batch is stuck after %s', async (_title, usualMs, patienceMs) => {
  const { ask, batches } = await usedTo(usualMs)
  ask(1, 2)
  await pass(patienceMs - 3)
  expect(batches).toEqual([[0], [1]])
  await pass(6)
  expect(batches).toEqual([[0], [1], [2]])
})

test('a batch is not stuck while it takes as long as the last ones, so that never are two on their way', async () => {
  const { ask, batches, at } = await usedTo(200)
  const answers = ask(1, 2, 3, 4, 5)
  for (const i of [1, 2, 3, 4, 5]) {
    await pass(200)
    expect(batches).toHaveLength(i + 1)
    at(i).answer()
    await pass(0)
  }
  expect((await answers).every(({ status }) => status === 'fulfilled')).toBe(true)
})

test('a batch that landed sooner shortens the patience again', async () => {
  const { ask, batches, at } = await usedTo(1000)
  ask(1)
  await pass(10)
  at(1).answer()
  await pass(0)
  ask(2, 3)
  await pass(37)
  expect(batches).toEqual([[0], [1], [2]])
  await pass(6)
  expect(batches).toEqual([[0], [1], [2], [3]])
})

/** An item needs the row of its tens: 21 that of 20. A large one needs two: 11_020 that of 11, and that of 20. */
function holds(item: number): readonly string[] {
  const rows = item < 1000 ? [item] : [item / 1000, item % 1000]
  return rows.map((row) => `row ${Math.floor(row / 10)}`)
}

test('a batch keeps what it holds: others that need it wait in order, and the rest goes on', async () => {
  const { ask, batches, at } = oneByOne({ holds, maxWeight: 100 })
  ask(10)
  await pass(0)
  ask(11, 20, 12, 30)
  await pass(260)
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

test('a batch has those wait as well that need what one in wait needs, so that they stay in order', async () => {
  const { ask, batches, at } = oneByOne({ holds, maxWeight: 100 })
  ask(10)
  await pass(0)
  ask(11_020, 21, 40) // the first needs the row that is held, and that of the second
  await pass(260)
  expect(batches).toEqual([[10], [40]])
  at(1).answer()
  at(0).fail(new Error('the connection is lost'))
  await pass(0)
  expect(batches).toEqual([[10], [40], [11_020, 21]])
})

test('a batch lets no others go while the most that may be stuck are, and all go on when one lands', async () => {
  const { ask, batches, at } = oneByOne({ maxStuck: 2 })
  const answers = ask(1, 2, 3, 4, 5)
  await pass(260)
  expect(batches).toEqual([[1], [2]])
  await pass(260)
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
  expect(await later).toMatchObject([{ value: '6' }])
})

test('a batch that fails teaches nothing, and one that is answered late does', async () => {
  const { ask, batches, at } = await usedTo(100)
  ask(1)
  await pass(390)
  at(1).fail(new Error('given up'))
  await pass(0)
  ask(2, 3)
  await pass(390)
  expect(batches).toEqual([[0], [1], [2]])
  await pass(20)
  expect(batches).toEqual([[0], [1], [2], [3]])
  at(3).answer()
  at(2).answer()
  await pass(0)
  ask(4, 5)
  await pass(1600)
  expect(batches).toHaveLength(5)
  await pass(100)
  expect(batches).toHaveLength(6)
})

test('a batch takes all at once that would have to wait for it', async () => {
  const { send, batches, at } = byHand()
  const ask = asker(send, { maxWeight: 100, maxInFlight: 2, holds })
  const answers = Array.from({ length: 60 }, (_, i) => ask(i < 50 ? i % 10 : i))
  await pass(0)
  expect(batches.map((batch) => batch.length)).toEqual([50, 10])
  at(0).answer()
  at(1).answer()
  expect(await Promise.all(answers)).toHaveLength(60)
})

test('a batch that leaves beside stuck ones counts as one of the most that may be stuck', async () => {
  const { ask, batches } = oneByOne({ maxInFlight: 2, maxStuck: 3 })
  ask(1, 2, 3, 4, 5, 6)
  await pass(260)
  expect(batches).toEqual([[1], [2], [3]])
  await pass(10_000)
  expect(batches).toEqual([[1], [2], [3]])
})
