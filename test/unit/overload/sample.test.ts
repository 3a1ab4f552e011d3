import { Sample } from '../../../src/overload/sample.js'

function sampleOf(...latencies: number[]): Sample {
  const sample = new Sample()
  for (const latencyMs of latencies) sample.add(latencyMs)
  return sample
}

test('a sample knows its mean, and how far it may be from the true one', () => {
  const { count, sumMs, sumOfSquares, meanMs, errorMs } = sampleOf(1, 2, 3, 4)
  expect([count, sumMs, sumOfSquares, meanMs]).toEqual([4, 10, 30, 2.5])
  expect(errorMs).toBeCloseTo(Math.sqrt(1.25 / 4), 12)
})

test('latencies that are all alike have no error, whatever rounding does', () => {
  expect(sampleOf(0.1, 0.1, 0.1).errorMs).toBeLessThan(1e-8)
  expect(sampleOf(1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1).errorMs).not.toBeNaN()
})

test('a sample that is added counts as if its latencies were added one by one', () => {
  const both = sampleOf(1, 2)
  both.addAll(sampleOf(3, 4))
  expect(both).toEqual(sampleOf(1, 2, 3, 4))
})

test('half of a sample has the same mean, and counts less', () => {
  const sample = sampleOf(1, 2, 3, 4)
  sample.halve()
  expect([sample.count, sample.meanMs]).toEqual([2, 2.5])
  expect(sample.errorMs).toBeCloseTo(Math.sqrt(1.25 / 2), 12)
  sample.add(7)
  expect(sample.meanMs).toBe(4)
})

test('a cleared sample is as new', () => {
  const sample = sampleOf(1, 2)
  sample.clear()
  sample.add(5)
  expect(sample).toEqual(sampleOf(5))
})
