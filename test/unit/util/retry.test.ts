import { type RetryOptions, retry } from '../../../src/util/retry.js'

const deadlock = new Error('deadlock')
const isTemporary = (error: unknown) => error === deadlock

/**
 * Retries a function whose first calls reject and take `tookMs` each. Returns how often it ran, and the
 * outcome.
 */
async function retryFailing(
  tookMs: number,
  error: Error = deadlock,
  times = Number.POSITIVE_INFINITY,
  options: RetryOptions<string> = {},
) {
  let count = 0
  const run = async () => {
    count++
    jest.advanceTimersByTime(tookMs)
    if (count <= times) throw error
    return 'done'
  }
  const outcome = await retry(run, { isTemporary, ...options }).catch((reason: unknown) => reason)
  return { count, outcome }
}

// Delays between attempts are real: at most 20 ms each.
beforeEach(() =>
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick'] }),
)
afterEach(() => jest.useRealTimers())

test('no attempt begins later than two seconds after the first', async () => {
  expect(await retryFailing(300)).toEqual({ count: 7, outcome: deadlock })
  expect(await retryFailing(1999)).toEqual({ count: 2, outcome: deadlock })
  expect(await retryFailing(2001)).toEqual({ count: 1, outcome: deadlock })
})

test('an attempt that began in time may succeed later', async () => {
  expect(await retryFailing(1500, deadlock, 1)).toEqual({ count: 2, outcome: 'done' })
})

test('attempts are bounded by time alone, unless a number is given', async () => {
  expect(await retryFailing(20)).toEqual({ count: 101, outcome: deadlock })
  const few = await retryFailing(0, deadlock, Number.POSITIVE_INFINITY, { maxAttempts: 5 })
  expect(few).toEqual({ count: 5, outcome: deadlock })
})

test('an error that shows progress is retried however late, and thirty times at most', async () => {
  const isProgress = isTemporary
  expect(await retryFailing(2001, deadlock, 2, { isProgress })).toEqual({ count: 3, outcome: 'done' })
  expect(await retryFailing(2001, deadlock, 99, { isProgress })).toEqual({ count: 30, outcome: deadlock })
})

test('an error that is not temporary is not retried', async () => {
  const other = new Error('no such table')
  expect(await retryFailing(0, other)).toEqual({ count: 1, outcome: other })
})

test('a value that is not final is retried, and the last one is returned', async () => {
  const values = [1, 2, 3, 4, 5]
  const next = () => Promise.resolve(values.shift())
  expect(await retry(next, { isFinal: (value) => value === 3 })).toBe(3)
  expect(await retry(() => Promise.resolve(4), { isFinal: () => false, maxAttempts: 3 })).toBe(4)
})
