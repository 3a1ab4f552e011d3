import fc from 'fast-check'
import { tokenBucket } from 'headgate'
import type { State } from 'headgate/store'

const START_MS = 1_790_000_000_000
const YEAR_MS = 365 * 86_400_000

/** Rates from one a year to a billion a second, evenly spread over their magnitudes. */
const rate = fc
  .double({ min: Math.log(1 / YEAR_MS), max: Math.log(1e6), noNaN: true })
  .map((exponent): { refill: number; every: number } => {
    const perMs = Math.exp(exponent)
    const every = Math.max(1, Math.min(YEAR_MS, Math.round(1000 / perMs)))
    return { refill: Math.max(1, Math.min(1e6 * every, Math.round(perMs * every))), every }
  })

test('any rate from one a year to a billion a second is kept within 0.01 %', () => {
  fc.assert(
    fc.property(rate, ({ refill, every }) => {
      const capacity = Math.max(1000, Math.min(2 ** 37, Math.ceil((refill / every) * 1000)))
      fc.pre((capacity / refill) * every <= 10 * YEAR_MS)
      const policy = tokenBucket({ capacity, refill, every })
      let state: State | undefined = policy.take(undefined, START_MS, capacity).next
      // Empty it again and again, at whatever time there is something to take.
      let admitted = 0
      const spanMs = (capacity / refill) * every
      const rounds = 50
      for (let round = 1; round <= rounds; round++) {
        const nowMs = START_MS + Math.floor((spanMs * round) / 8)
        const { remaining } = policy.take(state, nowMs, 0)
        if (remaining === 0) continue
        admitted += remaining
        state = policy.take(state, nowMs, remaining).next ?? state
      }
      const lastMs = Math.floor((spanMs * rounds) / 8)
      const due = (lastMs * refill) / every
      expect(Math.abs(admitted - due)).toBeLessThanOrEqual(1 + due * 0.0001)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['30,000,000 tokens a minute', 30_000_000, 60_000],
  ['a gigabyte a second', 1e9, 1000],
  ['10,000 a second', 10_000, 1000],
  ['16,385 a second', 16_385, 1000],
])('%s is admitted exactly, in units and at once', (_, refill, every) => {
  const policy = tokenBucket({ capacity: refill, refill, every })
  let state = policy.take(undefined, START_MS, refill).next
  expect(policy.take(state, START_MS, 1)).toMatchObject({ allowed: false, remaining: 0 })
  const { retryAfterMs } = policy.take(state, START_MS, refill / 2 - (refill % 2) / 2)
  expect(Math.abs(retryAfterMs / (every / 2) - 1)).toBeLessThan(0.0002)
  for (let i = 0; i < 1000; i++) state = policy.take(state, START_MS + every, 1).next ?? state
  const { remaining } = policy.take(state, START_MS + every, 0)
  expect(Math.abs(remaining - (refill - 1000))).toBeLessThanOrEqual(refill * 0.0001)
})

test('rates and capacities beyond that are errors with the fix', () => {
  expect(() => tokenBucket({ capacity: 1, refill: 1_000_001, every: 1 })).toThrow(/at most 10\^9 a second/)
  expect(() => tokenBucket({ capacity: 2 ** 37 + 1, refill: 1e9, every: '1s' })).toThrow(/at most 2\^37/)
})
