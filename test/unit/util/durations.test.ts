import { durationMs, MAX_DURATION_MS, shortDuration } from '../../../src/util/durations.js'

test.each([1, 60, 999, '1', '60', '60000'])(
  'a window of %p could be seconds, and the error names both readings',
  (value) => {
    const make = () => durationMs('someone', 'window', value)
    expect(make).toThrow(
      'someone: window must be a string with a unit, or a number of at least 1000 milliseconds, got ',
    )
    expect(make).toThrow(
      `. Write '${value}s' or '${value}ms'${typeof value === 'number' ? ', and for a computed time `' : '.'}`,
    )
    for (const unit of ['s', 'ms'])
      expect(durationMs('someone', 'window', `${value}${unit}`)).toBeGreaterThan(0)
  },
)

test.each([
  [1000, 1000],
  [900_000, 900_000],
  ['1ms', 1],
  ['60ms', 60],
  ['1s', 1000],
])('a window of %p has one reading', (value, lengthMs) => {
  expect(durationMs('someone', 'window', value)).toBe(lengthMs)
})

test.each([0, -5, 0.5, Number.NaN])('a window of %p is no duration in any unit', (value) => {
  expect(() => durationMs('someone', 'window', value)).toThrow("Did you mean window: '1m'?")
})

test.each([
  [1000, 1000],
  [60_000, 60_000],
  [MAX_DURATION_MS, MAX_DURATION_MS],
  ['10s', 10_000],
  ['5 minutes', 300_000],
  ['1.5h', 5_400_000],
  ['30 days', 2_592_000_000],
  ['400d', 34_560_000_000],
  ['10 years', MAX_DURATION_MS],
  ['250 ms', 250],
  ['1 M', 60_000],
  ['.5s', 500],
  ['1500 msecs', 1500],
  ['2 secs', 2000],
  ['3 mins', 180_000],
  ['1 hr', 3_600_000],
  ['2 hrs', 7_200_000],
  ['1 Week', 604_800_000],
  ['2w', 1_209_600_000],
  ['1y', 31_557_600_000],
  ['2 yrs', 63_115_200_000],
])('%p is %p ms', (value, expected) => {
  expect(durationMs('someone', 'window', value)).toBe(expected)
})

test.each([
  0,
  -1,
  0.5,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  MAX_DURATION_MS + 1,
  '',
  ' ',
  'soon',
  '0s',
  '-5m',
  '1.0001ms',
  '11 years',
  '1m30s',
  '9'.repeat(101),
  null,
  undefined,
  true,
  [],
  [60_000],
  {},
  60_000n,
  new Date(60_000),
  () => 60_000,
])('%p is no duration, and the message says what is', (value) => {
  expect(() => durationMs('someone', 'window', value)).toThrow(TypeError)
  expect(() => durationMs('someone', 'window', value)).toThrow(
    /^someone: window must be a duration from 1 ms to 10 years: .*, got .{1,70}\. Did you mean window: '1m'\?$/,
  )
})

test.each([
  [1, '1ms'],
  [1500, '1500ms'],
  [1000, '1s'],
  [90_000, '90s'],
  [60_000, '1min'],
  [3_600_000, '1h'],
  [5_400_000, '90min'],
  [86_400_000, '1d'],
  [2_592_000_000, '30d'],
])('%p ms is called %p in names', (value, expected) => {
  expect(shortDuration(value)).toBe(expected)
})
