import { ban, type Policy, slidingLog } from 'headgate'
import type { State } from 'headgate/store'
import type { SlidingLogOptions } from '../../../src/policies/sliding-log.js'

/** Takes in order, keeping the state. Returns the last step, and the state. */
function run(policy: Policy, takes: readonly (readonly [atMs: number, cost: number])[], from?: State) {
  let state: State | undefined = from
  let last = policy.take(state, 0, 0)
  for (const [atMs, cost] of takes) {
    last = policy.take(state, atMs, cost)
    state = last.next ?? state
  }
  return { last, state: state as State }
}

const NOON = 1_800_000_000_000
const DAY_MS = 86_400_000
const policy = slidingLog({ limit: 5, window: '10s' })

test('a unit comes back exactly one window after it was taken', () => {
  const { last, state } = run(policy, [
    [1000, 2],
    [4000, 3],
    [6000, 1],
  ])
  expect(last).toEqual({
    allowed: false,
    remaining: 0,
    retryAfterMs: 5000,
    resetAfterMs: 8000,
    moreAfterMs: 5000,
    next: undefined,
  })
  expect(policy.take(state, 6000, 3)).toMatchObject({ allowed: false, retryAfterMs: 8000 })
  expect(policy.take(state, 10_999, 0).remaining).toBe(0)
  expect(policy.take(state, 11_000, 0).remaining).toBe(2)
  expect(policy.take(state, 14_000, 0)).toMatchObject({ remaining: 5, resetAfterMs: 0, moreAfterMs: 0 })
})

test('a time between two milliseconds is rounded up, so that no window has more than the limit', () => {
  const { state } = run(policy, [[1000.25, 5]])
  expect(policy.take(state, 11_000.75, 1)).toMatchObject({ allowed: false, retryAfterMs: 0.25 })
  expect(policy.take(state, 11_001, 1).allowed).toBe(true)
})

test('its state is the times of the units in the window, oldest first', () => {
  const { state } = run(policy, [
    [NOON, 1],
    [NOON + 500.5, 2],
  ])
  expect(state).toEqual([NOON, NOON + 501, NOON + 501])
  expect(policy.take(state, NOON + 10_000, 1).next).toEqual([NOON + 501, NOON + 501, NOON + 10_000])
  for (const cost of [0, 1, 6])
    expect(policy.take([], NOON, cost)).toEqual({ ...policy.take(undefined, NOON, cost) })
})

test('a refund reaches only units that were taken at its time, while they count', () => {
  const { state } = run(policy, [
    [1000, 2],
    [4000, 2],
    [5000.5, 1],
  ])
  const refunded = policy.refund(state, 6000, 3, 4000) as State
  expect(policy.take(refunded, 6000, 0).remaining).toBe(2)
  expect(policy.take(refunded, 11_000, 0).remaining).toBe(4)
  expect(policy.take(policy.refund(state, 6000, 1, 5000.5), 14_000, 0).resetAfterMs).toBe(0)
  for (const takenAtMs of [999, 3000, 6000]) expect(policy.refund(state, 6000, 1, takenAtMs)).toBe(state)
  expect(policy.refund(state, 11_000, 1, 1000)).toBe(state)
  expect(policy.refund(state, 6000, 0, 4000)).toBe(state)
  expect(policy.refund(run(policy, [[1000, 2]]).state, 6000, 2, 1000)).toBeUndefined()
})

test('a reward gives back the newest units', () => {
  const { state } = run(policy, [
    [1000, 2],
    [4000, 3],
  ])
  const rewarded = policy.reward(state, 5000, 4) as State
  expect(policy.take(rewarded, 5000, 0)).toMatchObject({ remaining: 4, resetAfterMs: 6000 })
  expect(policy.reward(state, 5000, 9)).toBeUndefined()
  expect(policy.reward(state, 5000, 0)).toBe(state)
  expect(policy.reward(state, 14_000, 1)).toBeUndefined()
})

test('after a step back, units of a later time count as taken now, which a denial stores', () => {
  const { state } = run(policy, [
    [NOON + 1000, 2],
    [NOON + 9000, 3],
  ])
  const denied = policy.take(state, NOON + 2000, 1)
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 9000, resetAfterMs: 10_000 })
  expect(policy.take(denied.next, NOON + 12_000, 0).resetAfterMs).toBe(0)
  const { next } = policy.take(state, NOON - DAY_MS, 1)
  expect(policy.take(next, NOON - DAY_MS, 1)).toMatchObject({ retryAfterMs: 10_000, next: undefined })
  expect(policy.take(state, NOON - DAY_MS, 0)).toMatchObject({ remaining: 0, next: undefined })
})

describe('a state written under another limit or window', () => {
  const larger = slidingLog({ limit: 8, window: '10s' })
  const { state } = run(larger, [
    [NOON, 4],
    [NOON + 1000, 3],
  ])

  test('is read as it is, and a denial does not shorten it', () => {
    const denied = policy.take(state, NOON + 2000, 1)
    expect(denied).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 8000, next: undefined })
    expect(policy.take(state, NOON + 10_000, 0).remaining).toBe(2)
    expect(policy.clampToNow(state, NOON + 2000)).toBe(state)
  })

  test('keeps its units beyond a smaller limit when that gives some back', () => {
    const rewarded = policy.reward(state, NOON + 2000, 1) as State
    expect(policy.take(rewarded, NOON + 2000, 0).remaining).toBe(0)
    expect(larger.take(rewarded, NOON + 2000, 0).remaining).toBe(2)
    expect(policy.refund(state, NOON + 2000, 3, NOON)).toHaveLength(4)
  })

  test('keeps all its units when a clock that was ahead has written it', () => {
    const { next } = policy.take(state, NOON - 5000, 1)
    expect(next).toEqual(Array(7).fill(NOON - 5000))
    expect(larger.take(next, NOON - 5000, 0)).toMatchObject({ remaining: 1, resetAfterMs: 10_000 })
  })

  test('loses the units that are older than the window that charges', () => {
    const daily = slidingLog({ limit: 5, window: '1d' })
    const { state: times } = run(daily, [[NOON + 10_501, 1]], run(policy, [[NOON + 10_001, 2]]).state)
    expect(daily.take(times, NOON + 10_501, 0)).toMatchObject({ remaining: 2, resetAfterMs: DAY_MS })
    expect(run(policy, [[NOON + 20_001, 1]], times).state).toEqual([NOON + 10_501, NOON + 20_001])
  })
})

test('the largest limit takes all its units at once', () => {
  const thousand = slidingLog({ limit: 1000, window: '1h' })
  const { last, state } = run(thousand, [
    [NOON, 1000],
    [NOON, 1],
  ])
  expect(last).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 })
  expect(state).toEqual(Array(1000).fill(NOON))
  expect(thousand.take(state, NOON, 1001).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
})

test('its denials may start a ban', () => {
  const banned = ban(policy, { after: 2, within: '10s', for: '1m' })
  const { last, state } = run(banned, [
    [NOON, 5],
    [NOON, 1],
    [NOON, 1],
  ])
  expect(last).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
  expect(banned.take(state, NOON + 59_999, 1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
  expect(banned.take(state, NOON + 60_000, 5).allowed).toBe(true)
})

test('a share of it has fewer units in the same window', () => {
  expect(policy.scale(0.5)).toMatchObject({ limit: 2, windowMs: 10_000, name: '5-in-10s' })
})

test.each([
  [
    { limit: 0, window: '1m' },
    'slidingLog: limit must be a whole number from 1 to 1,000, got 0. Write limit: 5.',
  ],
  [
    { limit: 1001, window: '1m' },
    'slidingLog: limit must be a whole number from 1 to 1,000, got 1001. Use slidingWindow, which has no such maximum.',
  ],
  [{ limit: 5, window: 60 }, /^slidingLog: window must be a string with a unit/],
  [{ limit: 5, window: '1m', slices: 3 }, /^slidingLog: .*slices/],
])('rejects wrong options (%#)', (options: SlidingLogOptions, message) => {
  expect(() => slidingLog(options)).toThrow(message)
})
