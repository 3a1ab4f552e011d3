import { createLane, SPAN_MS } from '../../../docs/.vitepress/theme/policies/lane.js'
import {
  borderPath,
  levelPath,
  markPaths,
  stripHeight,
  xOf,
} from '../../../docs/.vitepress/theme/policies/strip.js'
import { tokenBucket } from '../../../src/policies/token-bucket.js'

const SIZE = { width: 400, pitch: 5, rows: 4, levelHeight: 20 }
const NOW_MS = 1_780_000_000_000

const startsOf = (path: string) =>
  [...path.matchAll(/M([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const)

test('now is at the right end, and twenty seconds ago at the left', () => {
  expect([NOW_MS, NOW_MS - SPAN_MS / 2, NOW_MS - SPAN_MS].map((ms) => xOf(ms, NOW_MS, SIZE))).toEqual([
    400, 200, 0,
  ])
})

test('allowed requests are squares and denied ones are crosses, stacked where they have one time', () => {
  const marks = [true, true, false].map((isAllowed) => ({ atMs: NOW_MS - 1000, isAllowed }))
  const { allowed, denied } = markPaths(marks, NOW_MS, SIZE)
  const [first, second] = startsOf(allowed)
  const [third] = startsOf(denied)
  expect([first?.[0], second?.[0]]).toEqual([third?.[0], third?.[0]])
  expect([first, second, third].map((at) => at?.[1])).toEqual([15.5, 10.5, 5.5])
  expect(allowed).toMatch(/z$/)
  expect(denied).not.toContain('z')
})

test('a stack keeps its marks while it moves, and is no higher than the strip', () => {
  const marks = Array.from({ length: 9 }, (_, i) => ({ atMs: NOW_MS - 1000 + i, isAllowed: true }))
  const columnsAt = (nowMs: number) =>
    new Set(startsOf(markPaths(marks, nowMs, SIZE).allowed).map(([x]) => x)).size
  const columns = Array.from({ length: 50 }, (_, i) => columnsAt(NOW_MS + 13 * i))
  expect(new Set(columns).size).toBe(1)
  for (const [, y] of startsOf(markPaths(marks, NOW_MS, SIZE).allowed)) expect(y).toBeGreaterThanOrEqual(0)
})

test('the level goes up to what it is now', () => {
  const bottom = stripHeight(SIZE)
  const path = levelPath([[NOW_MS - 10_000, 1]], NOW_MS, 0.5, SIZE)
  expect(path).toBe(`M200.0 ${bottom}L200.0 ${bottom - 20}.0L400.0 ${bottom - 10}.0V${bottom}z`)
  expect(levelPath([], NOW_MS, 1, SIZE)).toBe('')
})

test('the borders of windows are at multiples of their length', () => {
  const xs = startsOf(borderPath(10_000, NOW_MS + 2500, SIZE)).map(([x]) => x)
  expect(xs).toEqual([350, 150])
})

test('a lane forgets what its strip no longer shows, and keeps the level at its left end', () => {
  const lane = createLane(tokenBucket({ capacity: 10, refill: 10, every: '10s' }))
  lane.send(NOW_MS)
  lane.sample(NOW_MS + 100)
  lane.sample(NOW_MS + 60_000)
  expect(lane.marks).toEqual([])
  expect(lane.samples).toEqual([
    [NOW_MS + 100, expect.closeTo(0.91)],
    [NOW_MS + 60_000, 1],
  ])
})
