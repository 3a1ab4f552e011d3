import { setImmediate as turn } from 'node:timers/promises'
import { type BatcherOptions, batcher, type Send } from '../../src/stores/batcher.js'
import { until } from '../servers/wait.js'

type Answers = readonly (string | Error)[]

/** A `send` that answers all of a batch at once. */
function whole<Item, Answer>(
  send: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>,
): Send<Item, Answer> {
  return async (items, answer) => {
    const answers = await send(items)
    answers.forEach((each, place) => {
      answer(place, each)
    })
  }
}

/** A batcher that is asked one item at a time. */
function asker<Item, Answer>(
  send: Send<Item, Answer>,
  options: BatcherOptions<Item>,
): (item: Item) => Promise<Answer> {
  const ask = batcher(send, options)
  return async (item) => {
    const answers = await ask([item])
    expect(answers).toHaveLength(1)
    return answers[0] as Answer
  }
}

/** A `send` whose batches are answered by hand. */
function byHand() {
  const batches: (readonly number[])[] = []
  const pending: { answer(answers?: Answers): void; fail(reason: unknown): void }[] = []
  const send = (items: readonly number[]): Promise<Answers> =>
    new Promise((resolve, reject) => {
      batches.push(items)
      pending.push({ answer: (answers = items.map(String)) => resolve(answers), fail: reject })
    })
  const at = (i: number) => {
    const found = pending[i]
    if (found === undefined) throw new Error(`batch ${i} was not sent`)
    return found
  }
  return { send: whole(send), batches, at }
}

const WIDE = { maxWeight: 100, maxInFlight: 100 }

test('the items of the code that runs now go together, in order, as soon as it is done', async () => {
  const { send, batches, at } = byHand()
  const ask = asker(send, WIDE)
  const answers = [ask(1), ask(2)]
  await Promise.resolve()
  answers.push(ask(3))
  expect(batches).toEqual([])
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(batches).toEqual([[1, 2, 3]])
  at(0).answer()
  expect(await Promise.all(answers)).toEqual(['1', '2', '3'])
})

test('what the rest of the turn brings goes together when the turn ends', async () => {
  const { send, batches } = byHand()
  const ask = asker(send, WIDE)
  ask(1)
  await new Promise<void>((resolve) => process.nextTick(resolve))
  ask(2)
  await new Promise<void>((resolve) => process.nextTick(resolve))
  ask(3)
  expect(batches).toEqual([[1]])
  await turn()
  expect(batches).toEqual([[1], [2, 3]])
})

test('many items are split evenly over the batches that may be on their way, few are not', async () => {
  const { send, batches, at } = byHand()
  const ask = batcher(send, { maxWeight: 1000, maxInFlight: 2 })
  ask(Array.from({ length: 101 }, (_, i) => i))
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50])
  expect(batches.flat()).toEqual(Array.from({ length: 101 }, (_, i) => i))
  ask(Array.from({ length: 60 }, (_, i) => i))
  at(0).answer()
  await turn()
  await turn()
  expect(batches.map(({ length }) => length)).toEqual([51, 50, 60])
  const few = byHand()
  batcher(few.send, { maxWeight: 1000, maxInFlight: 2 })([1, 2, 3])
  await turn()
  expect(few.batches).toEqual([[1, 2, 3]])
})

test('a turn with more items than fit makes several batches, in order', async () => {
  const { send, batches } = byHand()
  const ask = asker(send, { maxWeight: 3, maxInFlight: 100 })
  for (let i = 0; i < 8; i++) ask(i)
  await turn()
  expect(batches).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('items that come while enough batches are on their way wait for one to return, and then go together', async () => {
  const { send, batches, at } = byHand()
  const ask = asker(send, { maxWeight: 100, maxInFlight: 2 })
  for (const item of [1, 2, 3, 4]) {
    ask(item)
    await turn()
  }
  expect(batches).toEqual([[1], [2]])
  at(1).answer()
  await turn()
  await turn()
  expect(batches).toEqual([[1], [2], [3, 4]])
  ask(5)
  await turn()
  expect(batches).toHaveLength(3)
  at(0).answer()
  await turn()
  await turn()
  expect(batches).toEqual([[1], [2], [3, 4], [5]])
})

test('never are more batches on their way than allowed', async () => {
  let inFlight = 0
  let most = 0
  const ask = asker(
    whole(async (items: readonly number[]) => {
      most = Math.max(most, ++inFlight)
      await turn()
      inFlight--
      return items
    }),
    { maxWeight: 7, maxInFlight: 3 },
  )
  const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => ask(i)))
  expect(answers).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(most).toBe(3)
})

test('an error among the answers rejects its item alone', async () => {
  const { send, at } = byHand()
  const ask = asker(send, WIDE)
  const answers = Promise.allSettled([ask(1), ask(2), ask(3)])
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
  const ask = asker(send, { maxWeight: 2, maxInFlight: 2 })
  const answers = Promise.allSettled([1, 2, 3, 4, 5].map(ask))
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

test('a send that throws is one that fails', async () => {
  const reason = new Error('no client')
  const ask = asker<number, string>(
    () => {
      throw reason
    },
    { maxWeight: 1, maxInFlight: 1 },
  )
  for (const item of [1, 2]) await expect(ask(item)).rejects.toBe(reason)
})

test('20,000 items in one tick are each sent once and answered once', async () => {
  const sent: number[] = []
  let largest = 0
  const ask = asker(
    whole(async (items: readonly number[]) => {
      sent.push(...items)
      largest = Math.max(largest, items.length)
      await turn()
      return items.map((item) => (item % 1000 === 0 ? new Error(`${item}`) : item * 2))
    }),
    { maxWeight: 256, maxInFlight: 2 },
  )
  const settled = await Promise.allSettled(Array.from({ length: 20_000 }, (_, i) => ask(i)))
  expect(sent).toEqual(Array.from({ length: 20_000 }, (_, i) => i))
  expect(largest).toBe(256)
  const wrong = settled.filter((result, i) =>
    result.status === 'fulfilled'
      ? result.value !== i * 2
      : result.reason.message !== `${i}` || i % 1000 !== 0,
  )
  expect(wrong).toEqual([])
})

test('items of one call are answered together, in order, whatever batches they go in', async () => {
  const { send, batches, at } = byHand()
  const ask = batcher(send, { maxWeight: 2, maxInFlight: 100 })
  const answers = ask([1, 2, 3])
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  at(1).answer()
  at(0).answer()
  expect(await answers).toEqual(['1', '2', '3'])
  expect(await ask([])).toEqual([])
})

test('a call rejects when one of its items does', async () => {
  const { send, at } = byHand()
  const answers = batcher(send, WIDE)([1, 2])
  await turn()
  const reason = new RangeError('two')
  at(0).answer(['one', reason])
  await expect(answers).rejects.toBe(reason)
})

test('batches are bounded by weight, and an item that weighs more goes alone', async () => {
  const { send, batches } = byHand()
  const ask = batcher(send, { maxWeight: 10, maxInFlight: 100, weigh: (item) => item })
  ask([4, 6, 1, 9, 1, 30, 2, 2])
  await turn()
  expect(batches).toEqual([[4, 6], [1, 9], [1], [30], [2, 2]])
})

test('items are answered one by one, and the next batch goes when the first of them is', async () => {
  const answers: ((place: number, answer: string) => void)[] = []
  const batches: (readonly number[])[] = []
  const ask = asker<number, string>(
    (items, answer) => {
      batches.push(items)
      answers.push(answer)
      return new Promise(() => undefined)
    },
    { maxWeight: 2, maxInFlight: 1 },
  )
  const [, second, third] = [1, 2, 3].map(ask)
  await turn()
  expect(batches).toEqual([[1, 2]])
  answers[0]?.(1, 'two')
  expect(await second).toBe('two')
  await turn()
  expect(batches).toEqual([[1, 2], [3]])
  answers[1]?.(0, 'three')
  expect(await third).toBe('three')
})

test('batches that are stuck hold up the others for a moment only', async () => {
  const { send, batches, at } = byHand()
  const ask = asker(send, { maxWeight: 1, maxInFlight: 2 })
  const calls = [1, 2, 3, 4, 5].map(ask)
  await turn()
  expect(batches).toEqual([[1], [2]])
  await until('the next ones go', () => batches.length === 4)
  expect(batches).toEqual([[1], [2], [3], [4]])
  for (const i of [0, 1]) at(i).answer()
  expect(await Promise.all(calls.slice(0, 2))).toEqual(['1', '2'])
  await turn()
  expect(batches).toHaveLength(4) // two are on their way still
  at(3).answer()
  expect(await calls[3]).toBe('4')
  await turn()
  expect(batches).toEqual([[1], [2], [3], [4], [5]])
})

describe('a batch that takes long', () => {
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

  test('is stuck after 250 ms where none has landed before', async () => {
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
    ['8 s where the last one took 2 s', 2000, 8000],
  ])('is stuck after %s', async (_title, usualMs, patienceMs) => {
    const { ask, batches } = await usedTo(usualMs)
    ask(1, 2)
    await pass(patienceMs - 3)
    expect(batches).toEqual([[0], [1]])
    await pass(6)
    expect(batches).toEqual([[0], [1], [2]])
  })

  test('is not stuck while it takes as long as the last ones, so that never are two on their way', async () => {
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

  test('that landed sooner shortens the patience again', async () => {
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

  test('keeps what it holds: others that need it wait in order, and the rest goes on', async () => {
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

  test('has those wait as well that need what one in wait needs, so that they stay in order', async () => {
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

  test('lets no others go while the most that may be stuck are, and all go on when one lands', async () => {
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
})
