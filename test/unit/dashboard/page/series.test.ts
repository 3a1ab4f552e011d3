import { pageModule } from '../../../support/page-module.js'

interface Series {
  readonly stepMs: number
  readonly fromMs: number
  readonly allowed: readonly (number | null)[]
  readonly denied: readonly (number | null)[]
}

const { extended, dayLater, ratesOf, pathOf, largestOf } = pageModule<{
  extended(series: Series | undefined, news: Series): Series
  dayLater(series: Series): Series
  ratesOf(series: Series): ({ denied: number; all: number } | null)[]
  largestOf(lists: readonly ({ all: number } | null)[][], atLeast?: number): number
  pathOf(
    values: readonly (number | null)[],
    x: (i: number) => number,
    y: (value: number) => number,
    floor?: number,
  ): string
}>('series.js')

const series = (fromMs: number, allowed: readonly (number | null)[], stepMs = 10_000): Series => ({
  stepMs,
  fromMs,
  allowed,
  denied: allowed.map((count) => count && 2 * count),
})

describe('steps that a frame brings', () => {
  test('are added after those that are known', () => {
    expect(extended(series(0, [1, 2]), series(20_000, [3]))).toEqual(series(0, [1, 2, 3]))
  })

  test('replace those of the same time, which have changed', () => {
    expect(extended(series(0, [1, 2, 3]), series(10_000, [5, 6, 7]))).toEqual(series(0, [1, 5, 6, 7]))
  })

  test('leave a gap where the page has missed some', () => {
    expect(extended(series(0, [1]), series(30_000, [4]))).toEqual(series(0, [1, null, null, 4]))
  })

  test('push out what is older than 15 minutes', () => {
    const full = Array.from({ length: 90 }, (_, i) => i)
    expect(extended(series(0, full), series(900_000, [90, 91]))).toEqual(
      series(20_000, [...full.slice(2), 90, 91]),
    )
    expect(extended(series(0, full), series(9_000_000, [7])).allowed).toEqual([...Array(89).fill(null), 7])
  })

  test('are all there is at first, after a restart, and with steps of another length', () => {
    const news = series(50_000, [1])
    expect(extended(undefined, news)).toBe(news)
    expect(extended(series(50_000, [8, 9]), news)).toBe(news)
    expect(extended(series(0, [8, 9], 5000), news)).toBe(news)
  })
})

test('yesterday is moved to today', () => {
  expect(dayLater(series(7, [1]))).toEqual(series(86_400_007, [1]))
})

test('rates are per second, and unknown where a count is', () => {
  const rates = ratesOf(series(0, [10, null, 0]))
  expect(rates).toEqual([{ denied: 2, all: 3 }, null, { denied: 0, all: 0 }])
  expect([largestOf([rates]), largestOf([rates, []], 5)]).toEqual([3, 5])
})

test('a path breaks where nothing is known, and a single value can be seen', () => {
  const path = (values: readonly (number | null)[], floor?: number) =>
    pathOf(
      values,
      (i) => 10 * i,
      (value) => value,
      floor,
    )
  expect(path([])).toBe('')
  expect(path([null])).toBe('')
  expect(path([1, 2, null, 4])).toBe('M0 1L10 2M30 4L36 4')
  expect(path([1, 2, null, 4], 9)).toBe('M0 1L10 2L10 9L0 9ZM30 4L36 4L36 9L30 9Z')
})
