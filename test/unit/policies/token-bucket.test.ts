import { tokenBucket } from 'headgate'
import type { State } from 'headgate/store'

interface Row {
  readonly atMs: number
  readonly cost: number
  readonly allowed: boolean
  readonly remaining: number
  readonly resetAfterMs: number
  readonly retryAfterMs?: number
}

/** The golden cases: a bucket of 5 that gets one token a second. */
const GOLDEN: readonly Row[] = [
  { atMs: 0, cost: 6, allowed: false, remaining: 5, resetAfterMs: 0, retryAfterMs: Number.POSITIVE_INFINITY },
  { atMs: 0, cost: 1, allowed: true, remaining: 4, resetAfterMs: 1000 },
  { atMs: 0, cost: 1, allowed: true, remaining: 3, resetAfterMs: 2000 },
  { atMs: 0, cost: 1, allowed: true, remaining: 2, resetAfterMs: 3000 },
  { atMs: 0, cost: 1, allowed: true, remaining: 1, resetAfterMs: 4000 },
  { atMs: 0, cost: 1, allowed: true, remaining: 0, resetAfterMs: 5000 },
  { atMs: 0, cost: 1, allowed: false, remaining: 0, resetAfterMs: 5000, retryAfterMs: 1000 },
  { atMs: 3000, cost: 1, allowed: true, remaining: 2, resetAfterMs: 3000 },
  { atMs: 3100, cost: 1, allowed: true, remaining: 1, resetAfterMs: 3900 },
  { atMs: 4000, cost: 1, allowed: true, remaining: 1, resetAfterMs: 4000 },
  { atMs: 8000, cost: 1, allowed: true, remaining: 4, resetAfterMs: 1000 },
  { atMs: 9500, cost: 1, allowed: true, remaining: 4, resetAfterMs: 1000 },
  { atMs: 9500, cost: 0, allowed: true, remaining: 4, resetAfterMs: 1000 },
  { atMs: 9500, cost: 2, allowed: true, remaining: 2, resetAfterMs: 3000 },
  { atMs: 9500, cost: 5, allowed: false, remaining: 2, resetAfterMs: 3000, retryAfterMs: 3000 },
]

test.each([0, Date.UTC(2026, 10, 21)])('the golden cases hold, in order, from time %d on', (originMs) => {
  const policy = tokenBucket({ capacity: 5, refill: 5, every: '5s' })
  let state: State | undefined
  for (const { atMs, cost, ...expected } of GOLDEN) {
    const step = policy.take(state, originMs + atMs, cost)
    expect({ atMs, cost, ...step }).toMatchObject({ atMs, cost, retryAfterMs: 0, ...expected })
    state = step.next ?? state
  }
})

test('its state is how many tokens were missing after the last charge, and when that was', () => {
  const policy = tokenBucket({ capacity: 10, refill: 1, every: '1s' })
  const { next } = policy.take(undefined, 5000, 3)
  expect(next).toEqual([3, 5000])
  expect(policy.take(next, 5250, 2).next).toEqual([4.75, 5250])
  expect(policy.take([0, 0], 5000, 3).next).toEqual([3, 5000])
})

test('moreAfterMs is exact, between two tokens too', () => {
  const policy = tokenBucket({ capacity: 5, refill: 1, every: '1s' })
  expect(policy.take([3.5, 10_000], 10_000, 0)).toMatchObject({ remaining: 1, moreAfterMs: 500 })
  expect(policy.take(undefined, 10_000, 0)).toMatchObject({ remaining: 5, moreAfterMs: 0 })
})

test('after a clock that was a year ahead, nobody waits for longer than a full refill takes', () => {
  const policy = tokenBucket({ capacity: 5, refill: 1, every: '1s' })
  const nowMs = Date.UTC(2026, 0, 1)
  const denied = policy.take([1, nowMs + 365 * 86_400_000], nowMs, 1)
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1000, next: [5, nowMs] })
  expect(policy.take(denied.next, nowMs + 1000, 1).allowed).toBe(true)
})

test('a refund restores what has not been refilled yet', () => {
  const policy = tokenBucket({ capacity: 5, refill: 1, every: '1s' })
  const { next: taken } = policy.take(undefined, 0, 3)
  expect(policy.refund(taken as State, 0, 3, 0)).toBeUndefined()
  expect(policy.refund(taken as State, 0, 1, 0)).toEqual([2, 0])
  const { next: takenLater } = policy.take(taken, 1000, 3)
  expect(takenLater).toEqual([5, 1000])
  expect(policy.refund(takenLater as State, 1000, 3, 0)).toEqual([3, 1000])
  expect(policy.refund(takenLater as State, 2000, 3, 0)).toEqual([4, 1000])
  expect(policy.refund(takenLater as State, 3000, 3, 0)).toBe(takenLater)
})

test('after a clock that was a year ahead, a refund shortens the wait by its units', () => {
  const policy = tokenBucket({ capacity: 5, refill: 1, every: '1s' })
  const nowMs = Date.UTC(2026, 0, 1)
  const aheadMs = nowMs + 365 * 86_400_000
  const state: State = [5, aheadMs]
  const refunded = policy.refund(state, nowMs, 2, aheadMs, aheadMs + 5000)
  expect(refunded).toEqual([3, nowMs])
  expect(policy.take(refunded, nowMs, 3)).toMatchObject({ allowed: false, retryAfterMs: 1000 })
  expect(policy.refund([1, aheadMs], nowMs, 2, nowMs)).toEqual([3, nowMs])
  expect(policy.refund(state, nowMs, 10, aheadMs)).toBeUndefined()
  expect(policy.refund(state, nowMs, 2, nowMs - 9000, nowMs)).toBe(state)
})

test('a bucket with other numbers reads the tokens that are missing, and refills them at its own rate', () => {
  const slow = tokenBucket({ capacity: 10, refill: 1, every: '1m' })
  const fast = tokenBucket({ capacity: 4, refill: 1, every: '1s' })
  const { next } = slow.take(undefined, 0, 7)
  expect(fast.take(next, 0, 1)).toMatchObject({ allowed: false, remaining: 0, debt: 3, retryAfterMs: 4000 })
  expect(fast.take(next, 4500, 0)).toMatchObject({ remaining: 1, moreAfterMs: 500, resetAfterMs: 2500 })
  expect(slow.take(fast.take(next, 4500, 1).next, 4500, 0)).toMatchObject({ remaining: 6 })
})

test('a refund under other numbers gives back its units, and no time that has passed', () => {
  const fast = tokenBucket({ capacity: 100, refill: 100, every: '1s' })
  const daily = tokenBucket({ capacity: 100, refill: 100, every: '1d' })
  const { next: state } = daily.take(undefined, 0, 100)
  const refunded = fast.refund(state as State, 60_000, 3, 59_999, 61_000)
  expect(daily.take(refunded, 60_000, 0).remaining).toBe(3)
})

test.each([
  ['capacity equal to refill', { capacity: 100, refill: 100, every: '1m' }, '100-in-1min'],
  ['a burst apart', { capacity: 50, refill: 10, every: '1s' }, '10-in-1s-burst-50'],
  ['an odd time', { capacity: 2, refill: 2, every: 1500 }, '2-in-1500ms'],
  ['a name', { capacity: 2, refill: 2, every: 1500, name: 'burst' }, 'burst'],
])('a policy with %s is named accordingly', (_case, options, name) => {
  expect(tokenBucket(options).name).toBe(name)
})

test('a policy is frozen, with all that it needs in its spec', () => {
  const policy = tokenBucket({ capacity: 100, refill: 100, every: '1m' })
  expect(Object.isFrozen(policy) && Object.isFrozen(policy.spec)).toBe(true)
  expect(policy).toMatchObject({ limit: 100, windowMs: 60_000 })
  expect(policy.spec).toEqual({ kind: 'token-bucket', capacity: 100, intervalMs: 600 })
})

test('a bucket may take ten years to fill, and no longer', () => {
  const perDay = (capacity: number) => tokenBucket({ capacity, refill: 2, every: '1d' })
  expect(perDay(7305).windowMs).toBe(3652.5 * 24 * 60 * 60 * 1000)
  expect(() => perDay(7306)).toThrow('capacity must be small enough to fill within 10 years')
})
