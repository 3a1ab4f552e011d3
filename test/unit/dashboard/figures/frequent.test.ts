import fc from 'fast-check'
import { RecentlyFrequentNames } from '../../../../src/dashboard/figures/frequent.js'

const NOW_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
/** More than the names that have a count. */
const MANY = 500

function countAll(
  names: readonly string[],
  nowMs = NOW_MS,
  frequent = new RecentlyFrequentNames(),
): RecentlyFrequentNames {
  for (const name of names) frequent.count(nowMs, name)
  return frequent
}

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `name-${from + i}`)

test('500 names are counted exactly, and the most frequent come first', () => {
  const names = numbered(MANY).flatMap((name, i) => Array<string>((i % 7) + 1).fill(name))
  const top = countAll(names).top(NOW_MS, MANY)
  expect(top).toHaveLength(MANY)
  expect(top.reduce((sum, [, count]) => sum + count, 0)).toBe(names.length)
  for (const [name, count] of top) expect(count).toBe((Number(name.slice(5)) % 7) + 1)
  expect(top.map(([, count]) => count)).toEqual(top.map(([, count]) => count).toSorted((a, b) => b - a))
})

test('a list has as many names as it is asked for', () => {
  expect(countAll(numbered(30)).top(NOW_MS, 20)).toHaveLength(20)
  expect(new RecentlyFrequentNames().top(NOW_MS, 20)).toEqual([])
})

test('a flood of names keeps at most 500 of them, and cannot push out a frequent one', () => {
  const frequent = new RecentlyFrequentNames()
  for (let i = 0; i < 10_000; i++) {
    frequent.count(NOW_MS, `flood-${i}`)
    if (i % 10 === 0) frequent.count(NOW_MS, 'ada')
  }
  const top = frequent.top(NOW_MS, Number.POSITIVE_INFINITY)
  expect(top.length).toBeLessThanOrEqual(MANY)
  const [name, count] = top[0] ?? ['', 0]
  expect(name).toBe('ada')
  expect(count).toBeLessThanOrEqual(1000)
  expect(count).toBeGreaterThanOrEqual(1000 - 11_000 / MANY)
})

test('no count is too high, or too low by more than a 500th of all that were counted', () => {
  const distinct = fc.integer({ min: 1, max: 900 })
  fc.assert(
    fc.property(distinct, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (most, random) => {
      const names = Array.from(random.take(3000), (at) => `name-${Math.floor(at ** 3 * most)}`)
      const exact = new Map<string, number>()
      for (const name of names) exact.set(name, (exact.get(name) ?? 0) + 1)
      const counted = new Map(countAll(names).top(NOW_MS, Number.POSITIVE_INFINITY))
      const allowed = exact.size > MANY ? names.length / MANY : 0
      for (const [name, count] of exact) {
        const error = count - (counted.get(name) ?? 0)
        if (error < 0 || error > allowed) throw new Error(`${name}: ${error}`)
      }
      expect(counted.size).toBeLessThanOrEqual(MANY)
    }),
    { numRuns: 15 },
  )
})

test('a name is counted for 10 to 15 minutes', () => {
  const frequent = countAll(['ada'])
  countAll(['ada', 'bob'], NOW_MS + 6 * MINUTE_MS, frequent)
  countAll(['bob'], NOW_MS + 12 * MINUTE_MS, frequent)
  const at = (minutes: number) => Object.fromEntries(frequent.top(NOW_MS + minutes * MINUTE_MS, 9))
  expect(at(14.9)).toEqual({ ada: 2, bob: 2 })
  expect(at(15)).toEqual({ ada: 1, bob: 2 })
  expect(at(20)).toEqual({ bob: 1 })
  expect(at(25)).toEqual({})
})

test('after a long pause, nothing is left, and counting goes on', () => {
  const frequent = countAll(['ada'])
  expect(countAll(['bob'], NOW_MS + 86_400_000, frequent).top(NOW_MS + 86_400_000, 9)).toEqual([['bob', 1]])
})

test('a clock that steps back counts in the latest span; one that was far ahead begins anew', () => {
  const frequent = countAll(['ada'])
  countAll(['ada'], NOW_MS - MINUTE_MS, frequent)
  expect(frequent.top(NOW_MS, 9)).toEqual([['ada', 2]])
  countAll(['bob'], NOW_MS - 86_400_000, frequent)
  expect(frequent.top(NOW_MS - 86_400_000, 9)).toEqual([['bob', 1]])
})
