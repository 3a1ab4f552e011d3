import { HeavyCohorts } from '../../../src/overload/heavy-cohorts.js'

/** Sends to the cohorts of one class, window by window. Returns the last usual share of each. */
function play(perWindow: readonly number[], windows: number, heavy = new HeavyCohorts(2, 8)): number[] {
  let shares: number[] = []
  for (let i = 0; i < windows; i++) {
    shares = perWindow.map((count, cohort) => {
      let share = 1
      for (let sent = 0; sent < count; sent++) share = heavy.record(1, cohort)
      return share
    })
    heavy.advance()
  }
  return shares
}

const rounded = (shares: readonly number[]) => shares.map((share) => Math.round(100 * share) / 100)

test.each([
  ['cohorts that send alike', [50, 60, 50, 70], [1, 1, 1, 1]],
  ['one that sends ten times as much', [50, 50, 50, 500], [1, 1, 1, 0.4]],
  ['most that send ten times as much', [50, 500, 500, 500], [1, 0.4, 0.4, 0.4]],
  ['a single one', [5000], [1]],
  ['two of which one floods', [1, 1000], [1, 0]],
  ['some that do not send', [0, 0, 0, 0, 50, 500], [1, 1, 1, 1, 1, 0.4]],
  ['one that sends more than others, and little', [0, 0, 0, 1, 1, 2], [1, 1, 1, 1, 1, 1]],
] as const)('%s', (_name, perWindow, shares) => {
  expect(rounded(play(perWindow, 200))).toEqual(shares)
})

test('a flood is recognized in the second window, and is over a while after it ends', () => {
  const heavy = new HeavyCohorts(2, 8)
  const shares = [1, 1].map(() => play([2, 2, 2, 2000], 1, heavy)[3])
  play([50, 50, 50, 2000], 100, heavy)
  const after = [2, 20].map((windows) => play([50, 50, 50, 50], windows, heavy)[3] ?? 0)
  expect(shares.map((share = 0) => share < 0.1)).toEqual([false, true])
  expect(after.map((share) => share === 1)).toEqual([false, true])
})

test('a class is compared with itself', () => {
  const heavy = new HeavyCohorts(2, 8)
  play([1, 1, 1], 10, heavy)
  for (let i = 0; i < 1000; i++) heavy.record(0, 0)
  heavy.advance()
  expect(heavy.record(0, 0)).toBe(1)
})
