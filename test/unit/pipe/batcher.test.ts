import { setImmediate as turn } from 'node:timers/promises'
import { Batcher } from '../../../src/pipe/batcher.js'
import { type Answer, answering, chargeOf, heldBack, itemBatcher } from './batch-senders.js'

const WIDE = { maxKeys: 100, maxInFlight: 100 }

// No batch stalls while the clock stands still, however busy the computer is.
beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

test('items of one synchronous run leave together, in order, as soon as it ends', async () => {
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, WIDE)
  const answers = [add(1), add(2)]
  await Promise.resolve()
  answers.push(add(3))
  expect(batches).toEqual([])
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(batches).toEqual([[1, 2, 3]])
  at(0).answer()
  expect(await Promise.all(answers)).toEqual([1, 2, 3])
})

test('later items of the same turn leave together when the turn ends', async () => {
  const { apply, batches } = heldBack()
  const add = itemBatcher(apply, WIDE)
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
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 1000, maxInFlight: 2 })
  for (let i = 0; i < 101; i++) add(i)
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50])
  expect(batches.flat()).toEqual(Array.from({ length: 101 }, (_, i) => i))
  for (let i = 0; i < 60; i++) add(i)
  at(0).answer()
  await turn()
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50, 60])
  const few = heldBack()
  const addFew = itemBatcher(few.apply, { maxKeys: 1000, maxInFlight: 2 })
  for (const item of [1, 2, 3]) addFew(item)
  await turn()
  expect(few.batches).toEqual([[1, 2, 3]])
})

test('with onePerTurn, batches leave in different turns, each with an even share', async () => {
  const { apply, batches } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 1000, maxInFlight: 3, onePerTurn: true })
  for (let i = 0; i < 90; i++) add(i)
  const sizes: number[][] = []
  for (let i = 0; i < 4; i++) {
    await turn()
    sizes.push(batches.map(({ length }) => length))
  }
  expect(sizes).toEqual([[30], [30, 30], [30, 30, 30], [30, 30, 30]])
  expect(batches.flat()).toEqual(Array.from({ length: 90 }, (_, i) => i))
})

test('items of one turn that exceed maxKeys leave in several batches, in order', async () => {
  const { apply, batches } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 3, maxInFlight: 100 })
  for (let i = 0; i < 8; i++) add(i)
  await turn()
  expect(batches).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('items that arrive while maxInFlight batches are in flight wait for an answer, then leave together', async () => {
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 100, maxInFlight: 2 })
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
  const add = itemBatcher(
    answering(async (items) => {
      most = Math.max(most, ++inFlight)
      await turn()
      inFlight--
      return items
    }),
    { maxKeys: 7, maxInFlight: 3 },
  )
  const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => add(i)))
  expect(answers).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(most).toBe(3)
})

test('an error among the answers rejects its item alone', async () => {
  const { apply, at } = heldBack()
  const add = itemBatcher(apply, WIDE)
  const answers = Promise.allSettled([add(1), add(2), add(3)])
  await turn()
  const reason = new RangeError('two')
  at(0).answer([1, reason, 3])
  expect(await answers).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason },
    { status: 'fulfilled', value: 3 },
  ])
})

test('a batch that fails rejects all of its items with the reason, and the others go on', async () => {
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 2, maxInFlight: 2 })
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
    { status: 'fulfilled', value: 3 },
    { status: 'fulfilled', value: 4 },
    { status: 'fulfilled', value: 5 },
  ])
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
})

test('a send that throws rejects its items with the reason', async () => {
  const reason = new Error('no client')
  const add = itemBatcher(
    () => {
      throw reason
    },
    { maxKeys: 1, maxInFlight: 1 },
  )
  for (const item of [1, 2]) await expect(add(item)).rejects.toBe(reason)
})

test('each of 20,000 items in one tick is sent once and answered once', async () => {
  const sent: number[] = []
  let largest = 0
  const add = itemBatcher(
    answering(async (items) => {
      sent.push(...items)
      largest = Math.max(largest, items.length)
      await turn()
      return items.map((item) => (item % 1000 === 0 ? new Error(`${item}`) : item * 2))
    }),
    { maxKeys: 256, maxInFlight: 2 },
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

test('answers reach their own items, in whatever order the batches are answered', async () => {
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 2, maxInFlight: 100 })
  const answers = [1, 2, 3].map(add)
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  at(1).answer()
  expect(await answers[2]).toBe(3)
  at(0).answer()
  expect(await Promise.all(answers)).toEqual([1, 2, 3])
})

test('batches are bounded by their keys, and an operation of more keys leaves alone', async () => {
  const { apply, batches } = heldBack()
  const keysOf = (item: number) => Array.from({ length: item }, (_, i) => `${item}.${i}`)
  const add = itemBatcher(apply, { maxKeys: 10, maxInFlight: 100 }, keysOf)
  for (const item of [4, 6, 1, 9, 1, 30, 2, 2]) add(item)
  await turn()
  expect(batches).toEqual([[4, 6], [1, 9], [1], [30], [2, 2]])
})

test('items are answered one by one, and the next batch leaves when the first of them is', async () => {
  const answers: Answer[] = []
  const batches: (readonly number[])[] = []
  const add = itemBatcher(
    answering((items, answer) => {
      batches.push(items)
      answers.push(answer)
      return new Promise(() => undefined)
    }),
    { maxKeys: 2, maxInFlight: 1 },
  )
  const [, second, third] = [1, 2, 3].map(add)
  await turn()
  expect(batches).toEqual([[1, 2]])
  answers[0]?.(1, 2)
  expect(await second).toBe(2)
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  answers[1]?.(0, 3)
  expect(await third).toBe(3)
})

test('each operation is settled once, by its first outcome', async () => {
  const settled: unknown[] = []
  const batcher = new Batcher(
    answering(async (items, answer) => {
      answer(1, 20)
      answer(1, 200)
      return items
    }),
    WIDE,
  )
  for (const item of [1, 2])
    batcher.send({ operation: chargeOf(item), settle: (outcome) => settled.push([item, outcome]) })
  await turn()
  expect(settled).toMatchObject([
    [2, { atMs: 20 }],
    [1, { atMs: 1 }],
  ])
})

test('operations that were settled before their batch fails keep their outcomes', async () => {
  const add = itemBatcher(
    answering(async (_, answer) => {
      answer(0, 1)
      throw new Error('gone')
    }),
    WIDE,
  )
  const [first, second] = [1, 2].map(add)
  await expect(second).rejects.toThrow('gone')
  expect(await first).toBe(1)
})

test('each batch is published when it ends, with its size and duration', async () => {
  const { apply, at } = heldBack()
  const publish = jest.fn()
  const options = { store: 'held', channel: { hasSubscribers: true, publish } }
  const batcher = new Batcher(apply, { maxKeys: 2, maxInFlight: 2 }, options)
  for (const item of [1, 2, 3]) batcher.send({ operation: chargeOf(item), settle() {} })
  await turn()
  jest.advanceTimersByTime(30)
  at(1).fail(new Error('gone'))
  await turn()
  at(0).answer()
  await turn()
  expect(publish.mock.calls).toEqual([
    [{ type: 'batch', store: 'held', size: 1, durationMs: 30 }],
    [{ type: 'batch', store: 'held', size: 2, durationMs: 30 }],
  ])
})

test('a stalled batch delays others only for the stall timeout', async () => {
  const { apply, batches, at } = heldBack()
  const add = itemBatcher(apply, { maxKeys: 1, maxInFlight: 2, stallTimeoutMs: 250 })
  const calls = [1, 2, 3, 4, 5].map(add)
  await turn()
  expect(batches).toEqual([[1], [2]])
  for (const ms of [250, 1]) {
    await jest.advanceTimersByTimeAsync(ms)
    await turn()
  }
  expect(batches).toEqual([[1], [2], [3], [4]])
  for (const i of [0, 1]) at(i).answer()
  expect(await Promise.all(calls.slice(0, 2))).toEqual([1, 2])
  await turn()
  expect(batches).toHaveLength(4) // two are still in flight
  at(3).answer()
  expect(await calls[3]).toBe(4)
  await turn()
  expect(batches).toEqual([[1], [2], [3], [4], [5]])
})
