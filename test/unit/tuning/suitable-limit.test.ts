import { roundUp } from '../../../src/tuning/suitable-limit.js'

test.each([
  [0.2, 1],
  [1, 1],
  [1.01, 2],
  [4, 4],
  [7, 8],
  [11, 12],
  [13, 15],
  [21, 25],
  [60, 60],
  [61, 80],
  [801, 1000],
  [1350, 1500],
  [24_001, 25_000],
])('at least %d is %d', (least, limit) => {
  expect(roundUp(least)).toBe(limit)
})
