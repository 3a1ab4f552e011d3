import fc from 'fast-check'
import { addCalls, Latency, quantileMs } from '../../../../src/dashboard/figures/latency.js'

const NOW_MS = 1_790_000_000_000

test('quantiles are too long by a factor of the square root of 2 at most, and never too short', () => {
  const durations = fc.array(fc.double({ min: 0.05, max: 70_000, noNaN: true }), {
    minLength: 1,
    maxLength: 100,
  })
  const share = fc.double({ min: 0.01, max: 1, noNaN: true })
  fc.assert(
    fc.property(durations, share, (durationsMs, of) => {
      const latency = new Latency()
      for (const durationMs of durationsMs) latency.measure(NOW_MS, durationMs, false)
      const at = Math.max(0, Math.ceil(of * durationsMs.length - 1e-9) - 1)
      const exactMs = durationsMs.toSorted((a, b) => a - b)[at] as number
      const estimateMs = quantileMs(latency.report(NOW_MS).latency, of) as number
      expect(estimateMs).toBeGreaterThanOrEqual(exactMs * (1 - 1e-9))
      expect(estimateMs).toBeLessThanOrEqual(exactMs * Math.SQRT2 * (1 + 1e-9))
    }),
    { numRuns: 200 },
  )
})

test.each([0, -1, 0.049, 1e9, Number.POSITIVE_INFINITY])('a call of %d ms is in a bucket', (durationMs) => {
  const latency = new Latency()
  latency.measure(NOW_MS, durationMs, false)
  const buckets = latency.report(NOW_MS).latency
  expect(buckets.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(quantileMs(buckets, 0.5)).toBeGreaterThan(0)
})

test('without calls there is no quantile', () => {
  expect(quantileMs(new Latency().report(NOW_MS).latency, 0.5)).toBeUndefined()
  expect(quantileMs([], 0.5)).toBeUndefined()
})

test('calls count for 30 to 60 seconds, those that failed, too', () => {
  const latency = new Latency()
  latency.measure(NOW_MS, 1, true)
  latency.measure(NOW_MS + 29_999, 1, false)
  expect(latency.report(NOW_MS + 59_999)).toMatchObject({ calls: 2, failures: 1 })
  expect(latency.report(NOW_MS + 100_000)).toMatchObject({ calls: 0, failures: 0 })
  latency.measure(NOW_MS + 200_000, 1, false)
  expect(latency.report(NOW_MS + 86_400_000)).toMatchObject({ calls: 0 })
})

test('a clock that was far ahead does not keep calls until its time has come', () => {
  const latency = new Latency()
  latency.measure(NOW_MS + 86_400_000, 1, true)
  expect(latency.report(NOW_MS)).toMatchObject({ calls: 0, failures: 0 })
})

test('calls of processes are added up bucket by bucket', () => {
  const a = { calls: 3, failures: 1, latency: [1, 2, 0] }
  const b = { calls: 1, failures: 0, latency: [0, 1] }
  expect(addCalls(a, b)).toEqual({ calls: 4, failures: 1, latency: [1, 3, 0] })
})
