import fc from 'fast-check'
import { fixedWindow, type State, slidingWindow, tokenBucket } from 'headgate'
import { basePolicy, costOf, kept, moment, takes, timedPolicy, waitMs } from './arbitrary-policies.js'

/** Some units taken as usual, and then as many as the overdraft gives. */
const overdrawnState = fc.tuple(basePolicy, moment, takes).map(([{ policy }, startMs, trace]) => {
  let state: State | undefined
  let nowMs = startMs
  for (const take of trace) {
    nowMs += waitMs(policy, take)
    state = kept(state, policy.take(state, nowMs, costOf(policy, take)).next)
  }
  const left = policy.overdrawing().take(state, nowMs, 0).remaining
  return {
    policy,
    nowMs,
    left,
    before: state,
    state: policy.overdrawing().take(state, nowMs, left).next ?? state,
  }
})

test('an overdraft gives what is left and the limit once more, and then nothing', () => {
  fc.assert(
    fc.property(overdrawnState, ({ policy, nowMs, left, before, state }) => {
      expect(left).toBe(policy.take(before, nowMs, 0).remaining + policy.limit)
      expect(policy.overdrawing().take(state, nowMs, 1).allowed).toBe(false)
      expect(policy.overdrawing().limit).toBe(2 * policy.limit)
    }),
  )
})

test('an overdrawn state shows nothing left, denies any cost, and lets itself be looked at', () => {
  fc.assert(
    fc.property(overdrawnState, ({ policy, nowMs, state }) => {
      const peek = policy.take(state, nowMs, 0)
      expect(peek).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: 0, next: undefined })
      expect(policy.take(state, nowMs, 1)).toMatchObject({ allowed: false, remaining: 0, next: undefined })
    }),
  )
})

test('an overdrawn state tells exactly when a unit is left, and when it is fresh', () => {
  fc.assert(
    fc.property(overdrawnState, ({ policy, nowMs, state }) => {
      const { moreAfterMs, resetAfterMs } = policy.take(state, nowMs, 0)
      const { retryAfterMs } = policy.take(state, nowMs, 1)
      const at = (ms: number) => policy.take(state, nowMs + ms, 1)
      fc.pre(Number.isFinite(retryAfterMs))
      expect(moreAfterMs).toBe(retryAfterMs)
      expect(at(retryAfterMs).allowed).toBe(true)
      if (retryAfterMs >= 1) expect(at(retryAfterMs - 1).allowed).toBe(false)
      expect(policy.take(state, nowMs + resetAfterMs, 0)).toMatchObject({
        remaining: policy.limit,
        resetAfterMs: 0,
      })
    }),
  )
})

test('nobody waits longer for an overdrawn state than for a clock that was ahead', () => {
  fc.assert(
    fc.property(timedPolicy, moment, ({ policy, longestLockoutMs }, nowMs) => {
      const overdrawing = policy.overdrawing()
      const { next } = overdrawing.take(undefined, nowMs, overdrawing.limit)
      expect(policy.take(next, nowMs, 1).retryAfterMs).toBeLessThanOrEqual(longestLockoutMs)
    }),
  )
})

test('what was overdrawn can be given back', () => {
  fc.assert(
    fc.property(basePolicy, moment, ({ policy }, nowMs) => {
      const overdrawing = policy.overdrawing()
      const { next } = overdrawing.take(undefined, nowMs, overdrawing.limit)
      const left = overdrawing.refund(next as State, nowMs, overdrawing.limit, nowMs)
      expect(policy.take(left, nowMs, 0).remaining).toBe(policy.limit)
    }),
  )
})

test.each([
  [tokenBucket({ capacity: 10, refill: 20, every: '1m' }), 0.25, 2, 30_000 / 0.25 / 10],
  [tokenBucket({ capacity: 3, refill: 3, every: '1m' }), 1 / 3, 1, 60_000],
  [tokenBucket({ capacity: 1, refill: 1, every: '1s' }), 0.1, 1, 10_000],
])('a share of a bucket is refilled as much more slowly (%#)', (policy, share, capacity, intervalMs) => {
  const scaled = policy.scaled(share)
  expect(scaled).toMatchObject({ kind: 'token-bucket', limit: capacity, name: policy.name })
  expect(scaled.params[0]).toBe(capacity)
  expect(scaled.params[1]).toBeCloseTo(intervalMs, 3)
})

test.each([
  [100, 0.29, 29],
  [10, 0.25, 2],
  [3, 0.1, 1],
  [7, 1, 7],
])('a share of a window of %d: %d of it is %d, in the same window', (limit, share, expected) => {
  for (const policy of [fixedWindow({ limit, window: '1m' }), slidingWindow({ limit, window: '1m' })]) {
    expect(policy.scaled(share)).toMatchObject({ kind: policy.kind, limit: expected, windowMs: 60_000 })
  }
})
