import { consecutive, fixedWindow, type Policy, slidingWindow } from 'headgate'
import type { State } from 'headgate/store'

/** Takes in order, keeping the state. Returns the last step, and the state. */
function run(policy: Policy, takes: readonly (readonly [atMs: number, cost: number])[]) {
  let state: State | undefined
  let last = policy.take(state, 0, 0)
  for (const [atMs, cost] of takes) {
    last = policy.take(state, atMs, cost)
    state = last.next ?? state
  }
  return { last, state }
}

describe('fixedWindow', () => {
  const policy = fixedWindow({ limit: 3, window: '1s' })

  test('admits the limit, and again when the next clock-aligned window begins', () => {
    const { last, state } = run(policy, [
      [1200, 2],
      [1900, 1],
      [1900, 1],
    ])
    expect(last).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 100,
      resetAfterMs: 100,
      moreAfterMs: 100,
    })
    expect(policy.take(state, 2000, 1)).toMatchObject({
      allowed: true,
      remaining: 2,
      next: [1, 2000],
    })
  })

  test('a refund reaches only the window in which the units were taken', () => {
    const { state } = run(policy, [[1200, 2]])
    expect(state).toEqual([2, 1200])
    expect(policy.refund(state as State, 1300, 1, 1200)).toEqual([1, 1200])
    expect(policy.refund(state as State, 1300, 5, 1200)).toBeUndefined()
    expect(policy.refund(state as State, 1300, 1, 900)).toBe(state)
  })

  test('units whose own window has ended are not refunded to a longer window that has counted since', () => {
    const hourly = fixedWindow({ limit: 9, window: '1h' })
    const { state } = run(policy, [
      [1200, 2],
      [2200, 1],
    ])
    expect(hourly.refund(state as State, 2300, 2, 1200, 2000)).toBe(state)
    expect(hourly.refund(state as State, 1900, 2, 1200, 2000)).toBe(state) // after a step back, too
    expect(hourly.refund(state as State, 2300, 1, 2200, 3000)).toBeUndefined()
  })

  test('after a step back across a window border, the state keeps counting in the later window', () => {
    const { state } = run(policy, [[2000, 3]])
    expect(policy.take(state, 1999, 1)).toMatchObject({ allowed: false, retryAfterMs: 1001, next: undefined })
    expect(policy.take(state, 3000, 1).allowed).toBe(true)
  })

  test('a denial clamps a state from a clock far ahead, which then waits for two windows at most', () => {
    const denied = policy.take([3, 900_000], 1500, 1)
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1500, next: [3, 2000] })
    expect(policy.take(denied.next, 3000, 1).allowed).toBe(true)
  })

  test('a refund to a state from a clock far ahead reaches only the window of its units, even once clamped', () => {
    const ahead: State = [3, 900_000]
    expect(policy.refund(ahead, 1500, 2, 900_100)).toEqual([1, 900_000])
    expect(policy.refund(ahead, 1500, 3, 900_100)).toBeUndefined()
    expect(policy.refund(ahead, 1500, 2, 1400)).toBe(ahead)
    const { next: clamped } = policy.take(ahead, 1500, 1)
    expect(policy.refund(clamped as State, 1500, 2, 900_100)).toBe(clamped)
    expect(policy.refund(clamped as State, 1500, 2, 2100)).toEqual([1, 2000])
  })
})

describe('slidingWindow', () => {
  const policy = slidingWindow({ limit: 10, window: '10s', slices: 10 })

  /** Returns a state of the policy, from its newest slice and the counts of this and the ones before. */
  function slidingState(index: number, ...newest: readonly number[]): State {
    return [index, ...newest, ...new Array<number>(11 - newest.length).fill(0)]
  }

  test('the oldest slice is weighted by its part inside the window, rounded down', () => {
    const { state } = run(policy, [[500, 10]]) // slice 0, fully inside until 10,000
    expect(policy.take(state, 9999, 0).remaining).toBe(0)
    expect(policy.take(state, 10_000, 0).remaining).toBe(0)
    expect(policy.take(state, 10_001, 0).remaining).toBe(1) // 10 × 0.999 = 9.99
    expect(policy.take(state, 10_500, 0).remaining).toBe(5)
    expect(policy.take(state, 10_901, 0).remaining).toBe(10)
  })

  test('a step shows when one more unit, this cost and all units are available again', () => {
    const { last } = run(policy, [
      [500, 10],
      [5000, 4],
    ])
    expect(last).toMatchObject({
      allowed: false,
      remaining: 0,
      moreAfterMs: 5001,
      retryAfterMs: 5301,
      resetAfterMs: 5901,
    })
  })

  test('units of the oldest slice come back one by one: the example of msUntilUsed', () => {
    const { state } = run(policy, [
      [1500, 6],
      [5500, 4],
    ])
    expect(policy.take(state, 5500, 3)).toMatchObject({ allowed: false, retryAfterMs: 5834 })
    expect(policy.take(state, 11_333, 3).allowed).toBe(false)
    expect(policy.take(state, 11_334, 3).allowed).toBe(true)
  })

  test('a single slice gives the two-counter window', () => {
    const two = slidingWindow({ limit: 10, window: '1s', slices: 1 })
    const { state } = run(two, [[900, 10]])
    expect(two.take(state, 1500, 0).remaining).toBe(5)
  })

  test('slices that divide the window unevenly are still exact', () => {
    const thirds = slidingWindow({ limit: 6, window: '1s', slices: 3 })
    const { state } = run(thirds, [[333, 6]]) // still slice 0: it ends at 333.33…
    expect(thirds.take(state, 1000, 0).remaining).toBe(0)
    expect(thirds.take(state, 1001, 0).remaining).toBe(1)
    expect(thirds.take(state, 1334, 0).remaining).toBe(6)
  })

  test('a refund reaches only the slice in which the units were taken', () => {
    const { state } = run(policy, [
      [500, 4],
      [3500, 2],
    ])
    expect(policy.refund(state as State, 3600, 1, 500)).toEqual(slidingState(3, 2, 0, 0, 3))
    expect(policy.refund(state as State, 3600, 9, 3500)).toEqual(slidingState(3, 0, 0, 0, 4))
    expect(policy.refund(state as State, 3600, 1, 1500)).toBe(state)
    expect(policy.refund(state as State, 30_000, 1, 20_000)).toBe(state)
  })

  test('a denial clamps a state from a clock far ahead', () => {
    const { state } = run(policy, [[900_000, 10]])
    const denied = policy.take(state, 500, 1)
    expect(denied).toMatchObject({ allowed: false, next: slidingState(10, 10) })
    expect(denied.retryAfterMs).toBe(20_001 - 500)
    expect(policy.take(denied.next, 20_001, 1).allowed).toBe(true)
  })

  test('a refund to a state from a clock far ahead reaches only the slice of its units, even once clamped', () => {
    const { state } = run(policy, [
      [895_000, 3],
      [900_000, 7],
    ])
    const ahead = state as State
    expect(policy.refund(ahead, 500, 2, 900_100)).toEqual(slidingState(900, 5, 0, 0, 0, 0, 3))
    expect(policy.refund(ahead, 500, 9, 895_100)).toEqual(slidingState(900, 7))
    for (const takenAtMs of [500, 889_999, 901_000])
      expect(policy.refund(ahead, 500, 2, takenAtMs)).toBe(ahead)
    const { next: clamped } = policy.take(ahead, 500, 1)
    expect(policy.refund(clamped as State, 500, 2, 900_100)).toBe(clamped)
    expect(policy.refund(clamped as State, 500, 2, 10_100)).toEqual(slidingState(10, 5, 0, 0, 0, 0, 3))
  })

  test('a refund of all units of a state from a clock far ahead makes it fresh', () => {
    const { state } = run(policy, [[900_000, 7]])
    expect(policy.refund(state as State, 500, 7, 900_000)).toBeUndefined()
  })
})

describe('consecutive', () => {
  const policy = consecutive({ limit: 3 })

  test('has no window: time alone restores no units', () => {
    const { last, state } = run(policy, [
      [0, 3],
      [1e12, 1],
    ])
    const never = Number.POSITIVE_INFINITY
    expect(last).toMatchObject({
      allowed: false,
      retryAfterMs: never,
      resetAfterMs: never,
      moreAfterMs: never,
    })
    expect(policy.refund(state as State, 0, 2, 0)).toEqual([1])
    expect(policy.refund(state as State, 0, 3, 0)).toBeUndefined()
  })
})

test.each([
  [fixedWindow({ limit: 5, window: '5 minutes' }), '5-in-5min'],
  [slidingWindow({ limit: 1000, window: '1d' }), '1000-in-1d'],
  [consecutive({ limit: 5 }), '5-in-a-row'],
  [consecutive({ limit: 5, name: 'failures' }), 'failures'],
])('policy %# is named after its numbers, or by its name option', (policy, name) => {
  expect(policy.name).toBe(name)
  expect(Object.isFrozen(policy)).toBe(true)
})
