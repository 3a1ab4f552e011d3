import fc from 'fast-check'
import {
  DistinctCounter,
  distinctIn,
  mergeSamples,
  NO_NAMES,
  sampleAsJson,
  sampleInJson,
} from '../../../src/util/distinct-sample.js'

const CAPACITY = 256

function counterOf(names: Iterable<string>, capacity = CAPACITY): DistinctCounter {
  const counter = new DistinctCounter(capacity)
  for (const name of names) counter.add(name)
  return counter
}

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `name-${from + i}`)

test('as many names as the capacity are counted exactly, however often each occurs', () => {
  const names = numbered(CAPACITY)
  expect(distinctIn(counterOf([...names, ...names.toReversed()]))).toBe(CAPACITY)
  expect(distinctIn(NO_NAMES)).toBe(0)
})

test.each([1000, 20_000, 200_000])('%i names are estimated within four standard errors', (count) => {
  const estimate = distinctIn(counterOf(numbered(count)))
  expect(Math.abs(estimate - count) / count).toBeLessThan(4 / Math.sqrt(CAPACITY))
})

test('never more hashes are kept than the capacity', () => {
  const counter = counterOf(numbered(5000), 16)
  expect(counter.hashes.length).toBeLessThanOrEqual(16)
  expect(counter.hashes.every((hash) => hash < counter.below)).toBe(true)
})

test('add says whether a name is in the sample, and samples whether it would be', () => {
  const counter = counterOf(numbered(1000), 8)
  const names = numbered(100, 5000)
  const sampled = names.map((name) => counter.samples(name))
  expect(sampled.filter(Boolean).length).toBeLessThan(20)
  expect(counterOf(['a']).add('a')).toBe(true)
  expect(names.filter((name) => counter.add(name)).length).toBeLessThanOrEqual(sampled.filter(Boolean).length)
})

test('the merged samples of parts are the sample of the whole', () => {
  const parts = fc.array(fc.array(fc.string(), { maxLength: 60 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 40 }), (given, capacity) => {
      const merged = mergeSamples(
        given.map((names) => counterOf(names, capacity)),
        capacity,
      )
      const whole = counterOf(given.flat(), capacity)
      expect(merged.hashes).toEqual(whole.hashes.filter((hash) => hash < merged.below))
      expect(merged.below).toBeLessThanOrEqual(whole.below)
      expect(merged.hashes.length).toBeLessThanOrEqual(capacity)
      if (new Set(given.flat()).size <= capacity) expect(distinctIn(merged)).toBe(distinctIn(whole))
    }),
  )
})

test('a sample survives JSON, and nothing else becomes one', () => {
  for (const sample of [NO_NAMES, counterOf(numbered(3)), counterOf(numbered(3000))]) {
    const { below, hashes } = sample
    expect(sampleInJson(JSON.parse(JSON.stringify(sampleAsJson(sample))), CAPACITY)).toEqual({
      below,
      hashes,
    })
  }
  const wrong = [undefined, null, 0, '', {}, [], ['1'], [0, -1], [0, 1.5], [0, 2, 1], [0, 1, 1], [5, 6], [-1]]
  expect(wrong.map((value) => sampleInJson(value, CAPACITY))).toEqual(wrong.map(() => undefined))
  expect(sampleInJson([0, 1, 2, 3], 2)).toBeUndefined()
})
