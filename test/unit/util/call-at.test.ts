import { callAt } from '../../../src/util/call-at.js'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

const DAY_MS = 24 * 3_600_000

test.each([2, 2.5, 1000, 60 * DAY_MS])('calls at the time given, and not before: after %d ms', (afterMs) => {
  const callback = jest.fn()
  callAt(performance.now() + afterMs, callback)
  jest.advanceTimersByTime(Math.floor(afterMs - 1))
  expect(callback).not.toHaveBeenCalled()
  jest.advanceTimersByTime(2)
  expect(callback).toHaveBeenCalledTimes(1)
})

test('a cancelled call leaves no timer, also after the longest that a timer runs', () => {
  const callback = jest.fn()
  const cancel = callAt(performance.now() + 60 * DAY_MS, callback)
  jest.advanceTimersByTime(30 * DAY_MS)
  expect(jest.getTimerCount()).toBe(1)
  cancel()
  expect(jest.getTimerCount()).toBe(0)
  expect(callback).not.toHaveBeenCalled()
})
