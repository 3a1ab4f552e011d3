import { daySeries, liveSeries } from '../../../../src/dashboard/board/series.js'
import { reportOf, trafficOf } from '../figures/reports.js'

const SLOT_MS = 10_000
const STEP_MS = 300_000
/** The start of a step. */
const START_MS = 5_966_600 * STEP_MS
const SLOT = START_MS / SLOT_MS
const STEP = START_MS / STEP_MS
const step = (at: number, allowed: number, denied = 0) => ({ step: STEP + at, allowed, denied })

describe('the series of 15 minutes', () => {
  const report = reportOf({ traffic: trafficOf(SLOT, [1, 2, 3, 4], [0, 0, 1, 0]) })

  test('ends before the step that goes on', () => {
    const { allowed, denied, fromMs, stepMs } = liveSeries(report, Number.POSITIVE_INFINITY)
    expect([allowed.length, allowed.slice(-3), denied.slice(-3)]).toEqual([89, [1, 2, 3], [0, 0, 1]])
    expect(fromMs + allowed.length * stepMs).toBe(START_MS)
  })

  test('ends before the step that a living process has reached, two steps earlier at most', () => {
    expect(liveSeries(report, SLOT - 1).allowed.slice(-2)).toEqual([1, 2])
    expect(liveSeries(report, SLOT - 50).allowed.slice(-2)).toEqual([0, 1])
  })

  test('stays the same until a step is over, is reached, or begins to be known', () => {
    const series = liveSeries(report, SLOT)
    const counted = { ...report, traffic: { ...report.traffic, allowed: 9 } }
    expect(liveSeries(counted, SLOT)).toBe(series)
    const later = { ...report, traffic: { ...report.traffic, lastSlot: SLOT + 1 } }
    const others = [
      liveSeries(report, SLOT - 1),
      liveSeries(later, SLOT + 1),
      liveSeries({ ...report, sinceMs: START_MS }, SLOT),
    ]
    expect(others.map((other) => other === series)).toEqual([false, false, false])
  })

  test('begins with what is not known', () => {
    const { allowed } = liveSeries({ ...report, sinceMs: START_MS - 2 * SLOT_MS - 1 }, SLOT)
    expect(allowed.filter((count) => count !== null)).toEqual([1, 2, 3])
  })
})

describe('the series of a day', () => {
  const idle = reportOf({ sinceMs: START_MS, traffic: trafficOf(SLOT, []) })

  test('has the steps of the history, and nothing where none is known', () => {
    const series = daySeries([step(-288, 1), step(-2, 2, 5), step(-1, 3)], idle, START_MS)
    expect([series?.allowed.length, series?.fromMs]).toEqual([288, START_MS - 288 * STEP_MS])
    expect([series?.allowed[0], series?.allowed.slice(-3), series?.denied.slice(-3)]).toEqual([
      1,
      [null, 2, 3],
      [null, 5, 0],
    ])
  })

  test('has the last steps as they are live, if processes have not added them yet', () => {
    const traffic = trafficOf(SLOT - 1, Array(60).fill(1), [])
    const series = daySeries([step(-2, 40, 7)], reportOf({ traffic, sinceMs: 0 }), START_MS)
    expect([series?.allowed.slice(-2), series?.denied.slice(-2)]).toEqual([
      [40, 30],
      [7, 0],
    ])
  })

  test('of yesterday goes on for 15 minutes, so that the last minutes can be compared with it', () => {
    const known = Array.from({ length: 8 }, (_, i) => step(-292 + i, 1 + i))
    const series = daySeries(known, idle, START_MS, 1)
    expect(series?.allowed.slice(-8)).toEqual([null, 1, 2, 3, 4, 5, 6, 7])
    expect(daySeries([step(-288, 1)], idle, START_MS, 1)).toBeUndefined()
  })

  test('of yesterday is 24 hours earlier, and absent if nothing is known', () => {
    expect(daySeries([step(-1, 1)], idle, START_MS, 1)).toBeUndefined()
    const series = daySeries([step(-1, 1), step(-300, 4)], idle, START_MS, 1)
    expect([series?.fromMs, series?.allowed.filter((count) => count !== null)]).toEqual([
      START_MS - 576 * STEP_MS,
      [4],
    ])
  })
})
