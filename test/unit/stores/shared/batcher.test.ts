import { setImmediate as turn } from 'node:timers/promises'
import { batcher } from '../../../../src/stores/shared/batcher.js'
import { byHand, singleItemBatcher, whole } from './batch-senders.js'

const WIDE = { maxWeight: 100, maxInFlight: 100 }

// No batch stalls while the clock stands still, however busy the computer is.
beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

test('items of one synchronous run leave together, in order, as soon as it ends', async () => {
  const { send, batches, at } = byHand()
  const add = singleItemBatcher(send, WIDE)
  const answers = [add(1), add(2)]
  await Promise.resolve()
  answers.push(add(3))
  expect(batches).toEqual([])
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(batches).toEqual([[1, 2, 3]])
  at(0).answer()
  expect(await Promise.all(answers)).toEqual(['1', '2', '3'])
})

test('later items of the same turn leave together when the turn ends', async () => {
  const { send, batches } = byHand()
  const add = singleItemBatcher(send, WIDE)
  add(1)
  await new Promise<void>((resolve) => process.nextTick(resolve))
  add(2)
  await new Promise<void>((resolve) => process.nextTick(resolve))
  add(3)
  expect(batches).toEqual([[1]])
  await turn()
  expect(batches).toEqual([[1], [2, 3]])
})

test('many items are split evenly over the batches that may be in flight; few are not split', async () => {
  const { send, batches, at } = byHand()
  const { submitAll: add } = batcher(send, { maxWeight: 1000, maxInFlight: 2 })
  add(Array.from({ length: 101 }, (_, i) => i))
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50])
  expect(batches.flat()).toEqual(Array.from({ length: 101 }, (_, i) => i))
  add(Array.from({ length: 60 }, (_, i) => i))
  at(0).answer()
  await turn()
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50, 60])
  const few = byHand()
  batcher(few.send, { maxWeight: 1000, maxInFlight: 2 }).submitAll([1, 2, 3])
  await turn()
  expect(few.batches).toEqual([[1, 2, 3]])
})

test('items of one turn that exceed maxWeight leave in several batches, in order', async () => {
  const { send, batches } = byHand()
  const add = singleItemBatcher(send, { maxWeight: 3, maxInFlight: 100 })
  for (let i = 0; i < 8; i++) add(i)
  await turn()
  expect(batches).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('items that arrive while maxInFlight batches are in flight wait for an answer, then leave together', async () => {
  const { send, batches, at } = byHand()
  const add = singleItemBatcher(send, { maxWeight: 100, maxInFlight: 2 })
  for (const item of [1, 2, 3, 4]) {
    add(item)
    await turn()
  }
  expect(batches).toEqual([[1], [2]])
  at(1).answer()
  await turn()
  await turn()
  expect(batches).toEqual([[1], [2], [3, 4]])
  add(5)
  await turn()
  expect(batches).toHaveLength(3)
  at(0).answer()
  await turn()
  await turn()
  expect(batches).toEqual([[1], [2], [3, 4], [5]])
})

test('there are never more batches in flight than maxInFlight', async () => {
  let inFlight = 0
  let most = 0
  const add = singleItemBatcher(
    whole(async (items: readonly number[]) => {
      most = Math.max(most, ++inFlight)
      await turn()
      inFlight--
      return items
    }),
    { maxWeight: 7, maxInFlight: 3 },
  )
  const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => add(i)))
  expect(answers).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(most).toBe(3)
})

test('an error among the answers rejects its item alone', async () => {
  const { send, at } = byHand()
  const add = singleItemBatcher(send, WIDE)
  const answers = Promise.allSettled([add(1), add(2), add(3)])
  await turn()
  const reason = new RangeError('two')
  at(0).answer(['one', reason, 'three'])
  expect(await answers).toEqual([
    { status: 'fulfilled', value: 'one' },
    { status: 'rejected', reason },
    { status: 'fulfilled', value: 'three' },
  ])
})

test('a batch that fails rejects all of its items with the reason, and the others go on', async () => {
  const { send, batches, at } = byHand()
  const add = singleItemBatcher(send, { maxWeight: 2, maxInFlight: 2 })
  const answers = Promise.allSettled([1, 2, 3, 4, 5].map(add))
  await turn()
  const reason = new Error('gone')
  at(0).fail(reason)
  await turn()
  await turn()
  at(1).answer()
  at(2).answer()
  expect(await answers).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
    { status: 'fulfilled', value: '3' },
    { status: 'fulfilled', value: '4' },
    { status: 'fulfilled', value: '5' },
  ])
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
})

test('a send that throws rejects its items with the reason', async () => {
  const reason = new Error('no client')
  const add = singleItemBatcher<number, string>(
    () => {
      throw reason
    },
    { maxWeight: 1, maxInFlight: 1 },
  )
  for (const item of [1, 2]) await expect(add(item)).rejects.toBe(reason)
})

test('each of 20,000 items in one tick is sent once and answered once', async () => {
  const sent: number[] = []
  let largest = 0
  const add = singleItemBatcher(
    whole(async (items: readonly number[]) => {
      sent.push(...items)
      largest = Math.max(largest, items.length)
      await turn()
      return items.map((item) => (item % 1000 === 0 ? new Error(`${item}`) : item * 2))
    }),
    { maxWeight: 256, maxInFlight: 2 },
  )
  const settled = await Promise.allSettled(Array.from({ length: 20_000 }, (_, i) => add(i)))
  expect(sent).toEqual(Array.from({ length: 20_000 }, (_, i) => i))
  expect(largest).toBe(256)
  const wrong = settled.filter((result, i) =>
    result.status === 'fulfilled'
      ? result.value !== i * 2
      : result.reason.message !== `${i}` || i % 1000 !== 0,
  )
  expect(wrong).toEqual([])
})

test('a call resolves with the answers of its items in order, whatever batches they left in', async () => {
  const { send, batches, at } = byHand()
  const { submitAll: add } = batcher(send, { maxWeight: 2, maxInFlight: 100 })
  const answers = add([1, 2, 3])
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  at(1).answer()
  at(0).answer()
  expect(await answers).toEqual(['1', '2', '3'])
  expect(await add([])).toEqual([])
})

test('a call rejects when one of its items does', async () => {
  const { send, at } = byHand()
  const answers = batcher(send, WIDE).submitAll([1, 2])
  await turn()
  const reason = new RangeError('two')
  at(0).answer(['one', reason])
  await expect(answers).rejects.toBe(reason)
})

test('batches are bounded by weight, and an item that weighs more leaves alone', async () => {
  const { send, batches } = byHand()
  const { submitAll: add } = batcher(send, { maxWeight: 10, maxInFlight: 100, weigh: (item) => item })
  add([4, 6, 1, 9, 1, 30, 2, 2])
  await turn()
  expect(batches).toEqual([[4, 6], [1, 9], [1], [30], [2, 2]])
})

test('items are answered one by one, and the next batch leaves when the first of them is', async () => {
  const answers: ((place: number, answer: string) => void)[] = []
  const batches: (readonly number[])[] = []
  const add = singleItemBatcher<number, string>(
    (items, answer) => {
      batches.push(items)
      answers.push(answer)
      return new Promise(() => undefined)
    },
    { maxWeight: 2, maxInFlight: 1 },
  )
  const [, second, third] = [1, 2, 3].map(add)
  await turn()
  expect(batches).toEqual([[1, 2]])
  answers[0]?.(1, 'two')
  expect(await second).toBe('two')
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  answers[1]?.(0, 'three')
  expect(await third).toBe('three')
})

test('a stalled batch delays others only for the stall timeout', async () => {
  const { send, batches, at } = byHand()
  const add = singleItemBatcher(send, { maxWeight: 1, maxInFlight: 2, stallTimeoutMs: 250 })
  const calls = [1, 2, 3, 4, 5].map(add)
  await turn()
  expect(batches).toEqual([[1], [2]])
  for (const ms of [250, 1]) {
    await jest.advanceTimersByTimeAsync(ms)
    await turn()
  }
  expect(batches).toEqual([[1], [2], [3], [4]])
  for (const i of [0, 1]) at(i).answer()
  expect(await Promise.all(calls.slice(0, 2))).toEqual(['1', '2'])
  await turn()
  expect(batches).toHaveLength(4) // two are still in flight
  at(3).answer()
  expect(await calls[3]).toBe('4')
  await turn()
  expect(batches).toEqual([[1], [2], [3], [4], [5]])
})
