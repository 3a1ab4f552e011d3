import { RankThreshold } from '../../../src/overload/rank-threshold.js'

/** Ten requests of each of four ranks, of which the second can be split. Returns how many pass, by rank. */
function passing(threshold: RankThreshold): number[] {
  return [0, 1, 2, 3].map(
    (rank) => Array.from({ length: 10 }, (_, i) => threshold.passes(rank, i / 10)).filter(Boolean).length,
  )
}

const create = () => new RankThreshold(4, (rank) => rank === 1)

test.each([
  [0.2, [10, 10, 10, 10]],
  [-0.2, [10, 10, 10, 10]], // less than the first rank, which cannot be split
  [-0.25, [0, 10, 10, 10]],
  [-0.35, [0, 6, 10, 10]],
  [-0.5, [0, 0, 10, 10]],
  [-0.6, [0, 0, 10, 10]],
  [-0.75, [0, 0, 0, 10]],
  [-100, [0, 0, 0, 10]], // the last rank always passes
])('a move by %d of the arrivals', (share, expected) => {
  const threshold = create()
  passing(threshold)
  threshold.move(share)
  expect(passing(threshold)).toEqual(expected)
})

test.each([
  [0.05, [0, 0, 10, 10]], // the boundary passes as a whole: free places are better used
  [0.25, [0, 0, 10, 10]],
  [0.35, [0, 4, 10, 10]],
  [0.5, [0, 10, 10, 10]],
  [0.55, [10, 10, 10, 10]],
  [100, [10, 10, 10, 10]],
])('from the last rank back by %d of the arrivals', (share, expected) => {
  const threshold = create()
  passing(threshold)
  threshold.move(-1)
  threshold.move(share)
  expect(passing(threshold)).toEqual(expected)
})

test('thousands of moves in both directions leave it between the first and the last rank', () => {
  const threshold = create()
  const wrong: number[][] = []
  for (let i = 0; i < 3000; i++) {
    const passed = passing(threshold)
    const isOrdered = passed.every((count, rank) => rank === 0 || count >= (passed[rank - 1] as number))
    if (!isOrdered || passed[3] !== 10) wrong.push(passed)
    threshold.move(Math.sin(i * i) * 0.3)
  }
  threshold.move(100)
  expect([wrong, threshold.isDenying(0), passing(threshold)]).toEqual([[], false, [10, 10, 10, 10]])
})

test('ranks without requests do not hold it up', () => {
  const threshold = create()
  for (let i = 0; i < 10; i++) threshold.passes(2, 0)
  threshold.move(-0.5)
  expect([0, 1, 2].map((rank) => threshold.isDenying(rank))).toEqual([true, true, false])
  threshold.move(0.01)
  expect(threshold.isDenying(0)).toBe(false)
})
