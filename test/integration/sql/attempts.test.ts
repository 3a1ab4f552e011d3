import { attempts } from '../../../src/stores/sql/retry.js'

const inTheWay = new Error('deadlock')
const isTemporary = (error: unknown) => error === inTheWay

/**
 * Attempts that take so long each and fail, so many times at most; tells how many there were, and what came
 * of them.
 */
async function failing(tookMs: number, error: Error = inTheWay, times = Number.POSITIVE_INFINITY) {
  let count = 0
  const run = async () => {
    count++
    jest.advanceTimersByTime(tookMs)
    if (count <= times) throw error
    return 'done'
  }
  const outcome = await attempts(run, isTemporary).catch((reason: unknown) => reason)
  return { count, outcome }
}

// Pauses between attempts are real: at most 20 ms each.
beforeEach(() =>
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick'] }),
)
afterEach(() => jest.useRealTimers())

test('no attempt begins later than two seconds after the first', async () => {
  expect(await failing(300)).toEqual({ count: 7, outcome: inTheWay })
  expect(await failing(1999)).toEqual({ count: 2, outcome: inTheWay })
  expect(await failing(2001)).toEqual({ count: 1, outcome: inTheWay })
})

test('an attempt that began in time may succeed later', async () => {
  expect(await failing(1500, inTheWay, 1)).toEqual({ count: 2, outcome: 'done' })
})

test('attempts that take no time end with the thirtieth', async () => {
  expect(await failing(0)).toEqual({ count: 30, outcome: inTheWay })
})

test('what is not temporary is not tried again', async () => {
  const other = new Error('no such table')
  expect(await failing(0, other)).toEqual({ count: 1, outcome: other })
})
