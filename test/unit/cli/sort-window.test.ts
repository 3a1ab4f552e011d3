import fc from 'fast-check'
import { SortWindow } from '../../../src/cli/replay/sort-window.js'

/** Adds requests, and releases all up to a time after each. Returns the times and clients in the order passed on. */
function sort(times: readonly number[], releaseMs = Number.NEGATIVE_INFINITY) {
  const passed: [timeMs: number, client: number][] = []
  const window = new SortWindow((timeMs, client) => passed.push([timeMs, client]))
  let newestMs = Number.NEGATIVE_INFINITY
  for (const [client, timeMs] of times.entries()) {
    newestMs = Math.max(newestMs, timeMs)
    window.add(timeMs, client)
    window.release(newestMs - releaseMs)
  }
  window.release(Number.POSITIVE_INFINITY)
  return passed
}

test('requests in any order are sorted, with their clients', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(50), { maxLength: 300 }),
      fc.integer({ min: 50, max: 100 }),
      (times, lateMs) => {
        const passed = sort(times, lateMs)
        expect(passed.map(([timeMs]) => timeMs)).toEqual(times.toSorted((a, b) => a - b))
        expect(passed.map(([, client]) => client).sort((a, b) => a - b)).toEqual(times.map((_, i) => i))
        expect(passed.map(([, client]) => times[client])).toEqual(passed.map(([timeMs]) => timeMs))
      },
    ),
  )
})

test('a request that is later than the window comes after those that were passed on', () => {
  expect(sort([0, 100, 200, 50, 201], 100)).toEqual([
    [0, 0],
    [100, 1],
    [50, 3],
    [200, 2],
    [201, 4],
  ])
})

test('at most 2^20 requests wait', () => {
  const count = 2 ** 20
  const passed: number[] = []
  const window = new SortWindow((timeMs) => passed.push(timeMs))
  for (let i = 0; i < count; i++) window.add(i % 2 === 0 ? i + 1000 : i, 0)
  expect(passed).toEqual([])
  for (let i = 0; i < 10; i++) window.add(count + 1000 + i, 0)
  expect(passed).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
  window.release(Number.POSITIVE_INFINITY)
  expect(passed.length).toBe(count + 10)
  expect(passed.findIndex((timeMs, i) => timeMs < (passed[i - 1] ?? 0))).toBe(-1)
})
