import {
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { DemandBudget, Demands } from '../../../../src/dashboard/figures/demands.js'
import { type Meter, meterOf } from '../../../../src/dashboard/figures/meters/meter.js'
import { IN_FORCE } from '../../../../src/tuning/demand-curve.js'
import { distinctIn } from '../../../../src/util/distinct-sample.js'

const WINDOW_MS = 60_000
/** The start of a window. */
const START_MS = 1_790_000_000_000 - (1_790_000_000_000 % WINDOW_MS)

let budget: DemandBudget
let demands: Demands

const meterFor = (policy: Pick<Policy, 'spec'>) => meterOf(policy) as Meter

beforeEach(() => {
  budget = new DemandBudget()
  demands = new Demands(meterFor(fixedWindow({ limit: 5, window: '1m' })), budget)
})

const asked = (units: number, isDenied = false) => ({ units, used: 0, isDenied })

const ask = (identity: string, times: number, atMs = START_MS, allowed = true) => {
  for (let i = 0; i < times; i++) demands.count(atMs, identity, asked(1, !allowed))
}
const taken = (nowMs: number) =>
  demands
    .take(nowMs)
    .demands.map(({ identity, peaks, wasDenied }) => [identity, peaks[0], wasDenied])
    .toSorted()

test('the peak of a client is the most that it asked for in one window, allowed or not', () => {
  ask('ada', 3)
  ask('ada', 5, START_MS + WINDOW_MS)
  ask('ada', 4, START_MS + WINDOW_MS + 1, false)
  ask('ada', 2, START_MS + 2 * WINDOW_MS)
  demands.count(START_MS, 'bob', asked(7))
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
  expect(taken(START_MS + 3)).toEqual([
    ['ada', 4, false],
    ['bob', 2, false],
  ])
  ask('ada', 1, START_MS + WINDOW_MS)
  expect(taken(START_MS + WINDOW_MS)).toEqual([
    ['ada', 4, false],
    ['bob', 2, false],
  ]) // what was in use before
  expect(taken(START_MS + 2 * WINDOW_MS)).toEqual([['ada', 1, false]])
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
  const byPeak = kept.toSorted((a, b) => (b.peaks[0] ?? 0) - (a.peaks[0] ?? 0))
  expect(byPeak.slice(0, 2).map(({ identity, peaks }) => [identity, peaks[0]])).toEqual([
    ['ada', 1500],
    ['bob', 750],
  ])
  expect(kept.length).toBeLessThanOrEqual(budget.clientsOf(3))
  expect(Math.abs(distinctIn(clients) - many) / many).toBeLessThan(0.15)
})

test('limits share the memory, and fewer clients of whom more is kept', () => {
  expect([3, 16, 102, 129].map((width) => budget.clientsOf(width))).toEqual([4000, 4000, 4000, 4000])
  for (let i = 0; i < 99; i++) budget.join()
  expect([3, 16, 32, 102].map((width) => budget.clientsOf(width))).toEqual([500, 500, 250, 250])
  for (let i = 0; i < 3000; i++) ask(`client-${i}`, 1)
  expect(demands.take(START_MS).demands.length).toBeLessThanOrEqual(500)
})

test('a client whose units are still in use is counted together with what others ask for next', () => {
  ask('ada', 3)
  demands.take(START_MS + 1)
  const { clients, demands: left } = demands.take(START_MS + 2)
  expect([left, distinctIn(clients)]).toEqual([
    [{ identity: 'ada', peaks: [3], seen: 0, wasDenied: false }],
    1,
  ])
})

test('what the limit itself has seen in use is kept, such as before this process has started', () => {
  demands.count(START_MS, 'ada', { units: 1, used: 4, isDenied: false })
  demands.count(START_MS, 'ada', { units: 1, used: 3, isDenied: false })
  expect(demands.take(START_MS).demands).toEqual([{ identity: 'ada', peaks: [2], seen: 4, wasDenied: false }])
})

test('policies whose units no time brings back have no meter', () => {
  expect([consecutive({ limit: 5 }), concurrency({ limit: 5 })].map(meterOf)).toEqual([undefined, undefined])
})

describe('a sliding log', () => {
  const policy = slidingLog({ limit: 1000, window: '1m' })

  test('is exact for up to 64 requests in a window', () => {
    const log = new Demands(meterFor(policy), budget)
    for (let i = 0; i < 200; i++) log.count(START_MS + i * 1000, 'ada', asked(2))
    expect(log.take(START_MS + 200_000).demands[0]?.peaks).toEqual([120])
  })

  test('counts more requests for too long by some 3% of the window, and never for too short', () => {
    const log = new Demands(meterFor(policy), budget)
    for (let i = 0; i < 3000; i++) log.count(START_MS + i * 100, 'ada', asked(1))
    const [peak = 0] = log.take(START_MS + 300_000).demands[0]?.peaks ?? []
    expect([peak >= 600, peak <= 600 * 1.05]).toEqual([true, true])
  })
})

test('a clock that jumps ahead and back grants nothing, and locks nothing', () => {
  const policies = [
    tokenBucket({ capacity: 10, refill: 10, every: '1m' }),
    slidingWindow({ limit: 10, window: '1m' }),
    fixedWindow({ limit: 10, window: '1m' }),
    slidingLog({ limit: 10, window: '1m' }),
  ]
  const peaks = policies.map((policy) => {
    const jumping = new Demands(meterFor(policy), budget)
    jumping.count(START_MS + 10 * 365 * 86_400_000, 'ada', asked(3))
    jumping.count(START_MS, 'ada', asked(3))
    const [together] = jumping.take(START_MS).demands
    jumping.take(START_MS + 86_400_000)
    jumping.count(START_MS + 86_400_000, 'ada', asked(3))
    const [alone] = jumping.take(START_MS + 86_400_000).demands
    const at = together?.peaks.length === 1 ? 0 : IN_FORCE
    return [together?.peaks[at], alone?.peaks[at]]
  })
  expect(peaks).toEqual(policies.map(() => [6, 3]))
})
