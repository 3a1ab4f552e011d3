import fc from 'fast-check'
import { tokenBucket } from 'headgate'
import type { State } from 'headgate/store'

const START_MS = 1_790_000_000_000
const YEAR_MS = 365 * 86_400_000

/** Rates from one a year to a billion a second: each power of two as often as any other. */
const rate = fc
  .tuple(fc.integer({ min: -34, max: 19 }), fc.integer({ min: 1000, max: 2000 }))
  .map(([power, thousandths]) => {
    const perMs = Math.min(1e6, Math.max(1 / YEAR_MS, (2 ** power * thousandths) / 1000))
    const every = Math.max(1, Math.min(YEAR_MS, Math.round(1000 / perMs)))
    return { refill: Math.max(1, Math.min(1e6 * every, Math.round(perMs * every))), every }
  })

test('the interval of any rate from one a year to a billion a second is exact within 0.01%', () => {
  fc.assert(
    fc.property(rate, ({ refill, every }) => {
      const { spec } = tokenBucket({ capacity: 1, refill, every: `${every}ms` })
      const { intervalMs } = spec as { intervalMs: number }
      expect(Math.abs((intervalMs * refill) / every - 1)).toBeLessThanOrEqual(0.0001)
    }),
    { numRuns: 5000 },
  )
})

test('a client that empties a bucket again and again gets its rate within 0.01%, and not a unit more', () => {
  fc.assert(
    fc.property(rate, ({ refill, every }) => {
      const intervalMs = every / refill
      // A bucket of a second or of ten tokens, emptied until 100,000 of them or more are due.
      const capacity = Math.max(10, Math.ceil(1000 / intervalMs))
      fc.pre(capacity * intervalMs <= 10 * YEAR_MS)
      const policy = tokenBucket({ capacity, refill, every: `${every}ms` })
      let state: State | undefined = policy.take(undefined, START_MS, capacity).next
      let admitted = 0
      let nowMs = START_MS
      const stepMs = Math.max(1, Math.floor((capacity * intervalMs) / 2))
      const steps = Math.min(20_000, Math.ceil((100_000 * intervalMs) / stepMs))
      for (let step = 0; step < steps; step++) {
        nowMs += stepMs
        const { remaining } = policy.take(state, nowMs, 0)
        admitted += remaining
        state = policy.take(state, nowMs, remaining).next ?? state
      }
      const due = (nowMs - START_MS) / intervalMs
      expect(admitted).toBeLessThanOrEqual(due * 1.0001 + 1)
      expect(admitted).toBeGreaterThanOrEqual(due * 0.9999 - 1)
    }),
    { numRuns: 60 },
  )
})

test.each([
  ['30,000,000 tokens a minute', 30_000_000, 60_000],
  ['a gigabyte a second', 1e9, 1000],
  ['10,000 a second', 10_000, 1000],
  ['16,385 a second', 16_385, 1000],
  ['one a year', 1, YEAR_MS],
])('%s is admitted, in units and at once', (_, refill, every) => {
  const policy = tokenBucket({ capacity: refill, refill, every: `${every}ms` })
  let state = policy.take(undefined, START_MS, refill).next
  expect(policy.take(state, START_MS, 1)).toMatchObject({ allowed: false, remaining: 0 })
  const { retryAfterMs } = policy.take(state, START_MS, refill)
  expect(Math.abs(retryAfterMs / every - 1)).toBeLessThanOrEqual(0.0001)
  const fullAtMs = START_MS + retryAfterMs
  const most = Math.min(1000, refill)
  for (let i = 0; i < most; i++) state = policy.take(state, fullAtMs, 1).next ?? state
  expect(policy.take(state, fullAtMs, 0).remaining).toBe(refill - most)
})

test('after 10,000 random charges, a bucket of any rate has the exact number of tokens', () => {
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 2 ** 20 }), ({ refill, every }, random) => {
      fc.pre((1000 * every) / refill < 9 * YEAR_MS)
      const policy = tokenBucket({ capacity: 1000, refill, every: `${every}ms` })
      const { intervalMs } = policy.spec as { intervalMs: number }
      const ticksPerMs = 2 ** 40 // every interval is a whole number of these
      const interval = BigInt(intervalMs * ticksPerMs)
      let [missing, lastMs, nowMs, seed] = [0n, START_MS, START_MS, random]
      let state: State | undefined
      for (let i = 0; i < 10_000; i++) {
        seed = (seed * 48_271) % 2_147_483_647
        nowMs += Math.floor(((seed % 1000) / 300) * Math.max(intervalMs, 1 / 4096) * 4096) / 4096
        missing -= BigInt((nowMs - lastMs) * 4096) * BigInt(ticksPerMs / 4096)
        if (missing < 0n) missing = 0n
        lastMs = nowMs
        const cost = 1 + (seed % 3)
        const after = missing + BigInt(cost) * interval
        const { allowed, remaining, next } = policy.take(state, nowMs, cost)
        if (allowed !== after <= 1000n * interval) throw new Error(`charge ${i} is ${allowed}`)
        if (allowed) missing = after
        const left = (1000n * interval - missing) / interval
        if (BigInt(remaining) !== left) throw new Error(`charge ${i} leaves ${remaining}, not ${left}`)
        state = next ?? state
      }
    }),
    { numRuns: 20 },
  )
})

test('rates and capacities beyond that are errors with the fix', () => {
  expect(() => tokenBucket({ capacity: 1, refill: 1_000_001, every: '1ms' })).toThrow(
    /at most 10\^9 per second/,
  )
  expect(() => tokenBucket({ capacity: 2 ** 37 + 1, refill: 1e9, every: '1s' })).toThrow(/at most 2\^37/)
})
