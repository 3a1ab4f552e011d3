import { purger } from '../../../src/stores/sql/purge.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { nextTurn } from '../../support/next-turn.js'

/** A pause between two batches lasts one turn of the event loop. */
jest.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(setImmediate) }))

const MINUTE_MS = 60_000

let nowMs = 0
let random = 0
const warn = () => jest.mocked(process.emitWarning)

beforeEach(() => {
  nowMs = 1000
  random = 0
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs)
  jest.spyOn(Math, 'random').mockImplementation(() => random)
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  forgetWarnings()
})

afterEach(() => jest.restoreAllMocks())

/** Waits for longer than the pauses between some batches. */
async function someBatches(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

/** A purger over a table with so many expired rows, and how many were removed each time. */
function purgerOf(expired: number) {
  const table = { expired }
  const removed: number[] = []
  const purge = purger(async (most) => {
    const count = Math.min(most, table.expired)
    table.expired -= count
    removed.push(count)
    return count
  })
  return { table, removed, purge }
}

test('a purge removes at most 100 rows at a time, until fewer are found', async () => {
  const { removed, purge } = purgerOf(234)
  purge.runIfDue()
  await someBatches()
  expect(removed).toEqual([100, 100, 34])
})

test('the first purge begins at a random moment of the first minute, and only if there are charges', async () => {
  random = 0.5
  const { removed, purge } = purgerOf(10)
  purge.runIfDue()
  nowMs += MINUTE_MS / 2 - 1
  purge.runIfDue()
  await someBatches()
  expect(removed).toEqual([])
  nowMs += 1
  await someBatches()
  expect(removed).toEqual([])
  purge.runIfDue()
  await someBatches()
  expect(removed).toEqual([10])
})

test('the next purge begins after half a minute to one and a half', async () => {
  for (const [share, afterMs] of [
    [0, MINUTE_MS / 2],
    [0.999, 1.49 * MINUTE_MS],
  ] as const) {
    random = 0
    const { removed, purge } = purgerOf(1)
    random = share
    purge.runIfDue()
    await someBatches()
    nowMs += afterMs - 10
    if (share === 0) purge.runIfDue()
    expect(removed).toHaveLength(1)
    nowMs += 1000
    purge.runIfDue()
    await someBatches()
    expect(removed).toEqual([1, 0])
  }
})

test('one purge runs at a time, however often the purger is called', async () => {
  const { removed, purge } = purgerOf(210)
  for (let i = 0; i < 100; i++) purge.runIfDue()
  await someBatches()
  expect(removed).toEqual([100, 100, 10])
})

test('close waits for the batch in progress, and no other follows', async () => {
  let finish = (_removed: number) => {}
  let removals = 0
  const purge = purger((most) => {
    removals++
    return new Promise((resolve) => {
      finish = () => resolve(most)
    })
  })
  purge.runIfDue()
  let isClosed = false
  const closing = purge.close().then(() => {
    isClosed = true
  })
  await someBatches()
  expect(isClosed).toBe(false)
  finish(100)
  await closing
  nowMs += 10 * MINUTE_MS
  purge.runIfDue()
  await someBatches()
  expect(removals).toBe(1)
})

test('a second close, or one without a purge in progress, does nothing', async () => {
  const { purge, removed } = purgerOf(3)
  await purge.close()
  await purge.close()
  purge.runIfDue()
  await someBatches()
  expect(removed).toEqual([])
})

test('a failure is reported once, with its reason, and the next purge tries again', async () => {
  let removals = 0
  const purge = purger(async () => {
    removals++
    throw new Error('the table is full of holes')
  })
  for (let i = 0; i < 3; i++) {
    purge.runIfDue()
    await someBatches()
    nowMs += 2 * MINUTE_MS
  }
  expect(removals).toBe(3)
  expect(warn()).toHaveBeenCalledTimes(1)
  const [message, options] = warn().mock.calls[0] ?? []
  expect(message).toMatch(
    /expired rows could not be removed \(the table is full of holes\)\. Charges are not affected\./,
  )
  expect(options).toMatchObject({ code: 'HEADGATE_PURGE_FAILED' })
  await purge.close()
})
