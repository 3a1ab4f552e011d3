import { drawKey, exponential, latencyFrom, randomFrom, zipfShares } from './random.js'

const DRAWS = 200_000

function draws(draw: () => number): Float64Array {
  return Float64Array.from({ length: DRAWS }, draw).sort()
}

const quantile = (sorted: Float64Array, share: number) => sorted[Math.floor(share * DRAWS)] as number
const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length

test('a seed gives one sequence, and another seed another one', () => {
  const [a, again, b] = [randomFrom(1), randomFrom(1), randomFrom(2)]
  const ofA = Array.from({ length: 5 }, a)
  expect(Array.from({ length: 5 }, again)).toEqual(ofA)
  expect(Array.from({ length: 5 }, b)).not.toEqual(ofA)
})

test('random numbers are even', () => {
  const sorted = draws(randomFrom(1))
  for (const share of [0.01, 0.25, 0.5, 0.75, 0.99]) expect(quantile(sorted, share)).toBeCloseTo(share, 2)
})

test('latencies have the given median and 99th percentile', () => {
  const sorted = draws(latencyFrom(randomFrom(1), 0.2, 1.5))
  expect(quantile(sorted, 0.5) / 0.2).toBeCloseTo(1, 1)
  expect(quantile(sorted, 0.99) / 1.5).toBeCloseTo(1, 1)
})

test('a median that equals the 99th percentile is the latency of all', () => {
  const sorted = draws(latencyFrom(randomFrom(1), 0.2, 0.2))
  expect([sorted[0], sorted.at(-1)]).toEqual([0.2, 0.2])
})

test('times between arrivals have the mean and the variance of a Poisson process', () => {
  const random = randomFrom(1)
  const times = draws(() => exponential(random, 4))
  expect(mean(times)).toBeCloseTo(1 / 4, 2)
  expect(mean(times.map((time) => (time - 1 / 4) ** 2))).toBeCloseTo(1 / 16, 2)
})

test.each([
  [1, 0],
  [10, 0],
  [10, 1],
  [1000, 1.2],
])('of %i keys with exponent %d, each is drawn as often as Zipf says', (count, exponent) => {
  const random = randomFrom(1)
  const shares = zipfShares(count, exponent)
  const drawn = new Array<number>(count).fill(0)
  for (let i = 0; i < DRAWS; i++) {
    const key = drawKey(random, shares)
    drawn[key] = (drawn[key] as number) + 1
  }
  const weights = Array.from({ length: count }, (_, i) => (i + 1) ** -exponent)
  const sum = weights.reduce((a, b) => a + b)
  for (const [i, weight] of weights.slice(0, 10).entries())
    expect((drawn[i] as number) / DRAWS).toBeCloseTo(weight / sum, 2)
})
