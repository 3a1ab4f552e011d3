import { sharesOf } from '../../../../src/dashboard/shared/shares.js'

test.each([
  [[], 10, []],
  [[3, 4], 10, [3, 4]],
  [[100, 100], 10, [5, 5]],
  [[100, 2, 100], 10, [4, 2, 4]],
  [[0, 0, 100], 7, [0, 0, 7]],
  [[5, 5, 5], 0, [0, 0, 0]],
  [[100, 1, 1, 1], 2, [1, 0, 0, 1]],
])('lists of %j share %i places: %j', (lengths, places, shares) => {
  const given = sharesOf(lengths, places)
  expect(given.reduce((sum, share) => sum + share, 0)).toBe(
    Math.min(
      places,
      lengths.reduce((a, b) => a + b, 0),
    ),
  )
  expect(given.every((share, i) => share <= (lengths[i] ?? 0))).toBe(true)
  expect(given).toEqual(shares)
})
