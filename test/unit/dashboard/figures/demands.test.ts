import { DemandBudget, Demands } from '../../../../src/dashboard/figures/demands.js'
import { distinctIn } from '../../../../src/util/distinct-sample.js'

const WINDOW_MS = 60_000
/** The start of a window. */
const START_MS = 1_790_000_000_000 - (1_790_000_000_000 % WINDOW_MS)

let budget: DemandBudget
let demands: Demands

beforeEach(() => {
  budget = new DemandBudget()
  demands = new Demands(WINDOW_MS, budget)
})

const ask = (identity: string, times: number, atMs = START_MS, allowed = true) => {
  for (let i = 0; i < times; i++) demands.count(atMs, identity, 1, allowed)
}
const taken = (nowMs: number) =>
  demands
    .take(nowMs)
    .demands.map(({ identity, peak, wasDenied }) => [identity, peak, wasDenied])
    .toSorted()

test('the peak of a client is the most that it asked for in one window, allowed or not', () => {
  ask('ada', 3)
  ask('ada', 5, START_MS + WINDOW_MS)
  ask('ada', 4, START_MS + WINDOW_MS + 1, false)
  ask('ada', 2, START_MS + 2 * WINDOW_MS)
  demands.count(START_MS, 'bob', 7, true)
  expect(taken(START_MS + 2 * WINDOW_MS)).toEqual([
    ['ada', 9, true],
    ['bob', 7, false],
  ])
})

test('what has been taken counts no more, but a window that lasts goes on', () => {
  ask('ada', 3)
  ask('bob', 2)
  expect(taken(START_MS + 1)).toEqual([
    ['ada', 3, false],
    ['bob', 2, false],
  ])
  ask('ada', 1, START_MS + 2)
  expect(taken(START_MS + 3)).toEqual([['ada', 4, false]])
  ask('ada', 1, START_MS + WINDOW_MS)
  expect(taken(START_MS + WINDOW_MS)).toEqual([['ada', 1, false]])
  expect(taken(START_MS + 2 * WINDOW_MS)).toEqual([])
})

test('a flood of clients keeps those that ask for most, and a sample of all', () => {
  const many = 30_000
  for (let i = 0; i < many; i++) {
    ask(`client-${i}`, 1)
    if (i % 20 === 0) ask('ada', 1)
    if (i % 40 === 0) ask('bob', 1)
  }
  const { clients, demands: kept } = demands.take(START_MS)
  const byPeak = kept.toSorted((a, b) => b.peak - a.peak)
  expect(byPeak.slice(0, 2).map(({ identity, peak }) => [identity, peak])).toEqual([
    ['ada', 1500],
    ['bob', 750],
  ])
  expect(kept.length).toBeLessThanOrEqual(budget.perLimit)
  expect(Math.abs(distinctIn(clients) - many) / many).toBeLessThan(0.15)
})

test('limits share the memory', () => {
  expect(budget.perLimit).toBe(4000)
  for (let i = 0; i < 99; i++) budget.join()
  expect(budget.perLimit).toBe(500)
  for (let i = 0; i < 3000; i++) ask(`client-${i}`, 1)
  expect(demands.take(START_MS).demands.length).toBeLessThanOrEqual(500)
})
