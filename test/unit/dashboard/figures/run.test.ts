import type { DenialRun } from '../../../../src/dashboard/figures/report.js'
import { goesOn, joinRuns, Run } from '../../../../src/dashboard/figures/run.js'

const START_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Counts denials every `everyMs` from one time until before another. */
function deny(run: Run, fromMs: number, untilMs: number, everyMs: number): void {
  for (let ms = fromMs; ms < untilMs; ms += everyMs) run.count(ms)
}

/** A bot is denied every 20 s for three hours before `attackMs`. */
function afterBot(attackMs: number): Run {
  const run = new Run()
  deny(run, attackMs - 3 * HOUR_MS, attackMs, 20_000)
  return run
}

test.each([0, 1, 3700, 7000, 9999])(
  'a bot that is denied all day does not hide when an attack began, %i ms after a step of ten seconds',
  (ms) => {
    const attackMs = START_MS + ms
    const run = afterBot(attackMs)
    deny(run, attackMs, attackMs + MINUTE_MS, 25)
    expect(run.figures(attackMs + MINUTE_MS)).toMatchObject({ sinceMs: attackMs - 3 * HOUR_MS })
    const { risenMs = 0 } = run.figures(attackMs + MINUTE_MS) ?? {}
    expect(Math.abs(risenMs - attackMs)).toBeLessThanOrEqual(20_000)
  },
)

test('an attack that goes on for hours began when it began, although its rate swings', () => {
  const run = afterBot(START_MS)
  for (let minute = 0; minute < 120; minute++)
    deny(
      run,
      START_MS + minute * MINUTE_MS,
      START_MS + (minute + 1) * MINUTE_MS,
      minute % 3 === 0 ? 300 : 700,
    )
  const { risenMs = 0 } = run.figures(START_MS + 2 * HOUR_MS) ?? {}
  expect(Math.abs(risenMs - START_MS)).toBeLessThanOrEqual(20_000)
})

test('bursts at the end of each minute are one run, since the first of them', () => {
  const run = new Run()
  for (let minute = 0; minute < 30; minute++) {
    const burstMs = START_MS + minute * MINUTE_MS + 50_000
    deny(run, burstMs, burstMs + 9000, 100)
  }
  expect(run.figures(START_MS + 30 * MINUTE_MS)).toMatchObject({ risenMs: START_MS + 50_000 })
})

test('the first denial, a pause, and clocks that jump leave times within the run', () => {
  const run = new Run()
  const steps = [0, 5000, HOUR_MS, HOUR_MS + 1, -HOUR_MS, -HOUR_MS + 30_000, 20 * HOUR_MS, 0]
  const seen = steps.map((ms) => {
    run.count(START_MS + ms)
    const figures = run.figures(START_MS + ms) as DenialRun
    return [figures.sinceMs <= figures.risenMs && figures.risenMs <= figures.lastMs, figures.perMinute > 0]
  })
  expect(seen).toEqual(steps.map(() => [true, true]))
})

test('a run goes on for a minute, and its last minute empties', () => {
  const run = new Run()
  deny(run, START_MS, START_MS + 1000, 100)
  const at = (ms: number) => {
    const figures = run.figures(START_MS + ms) as DenialRun
    return [goesOn(figures, START_MS + ms), figures.perMinute]
  }
  expect([at(1000), at(40_000), at(61_000)]).toEqual([
    [true, 10],
    [true, 10],
    [false, 0],
  ])
})

const run = (from: number, to: number, own: Partial<DenialRun> = {}): DenialRun => {
  const sinceMs = START_MS + from * MINUTE_MS
  return { sinceMs, lastMs: START_MS + to * MINUTE_MS, risenMs: sinceMs, perMinute: 1, ...own }
}

test('runs of processes that overlap, or follow within a minute, are one', () => {
  const joined = (...runs: DenialRun[]) => {
    const { sinceMs = 0, lastMs = 0, risenMs } = joinRuns(runs) ?? {}
    return [(sinceMs - START_MS) / MINUTE_MS, (lastMs - START_MS) / MINUTE_MS, risenMs === sinceMs]
  }
  expect(joinRuns([])).toBeUndefined()
  expect([
    joined(run(5, 9)),
    joined(run(0, 5), run(6, 9)),
    joined(run(6, 9), run(0, 3)),
    joined(run(2, 4), run(4, 9), run(0, 1)),
  ]).toEqual([
    [5, 9, true],
    [0, 9, true],
    [6, 9, true],
    [0, 9, true],
  ])
})

test('a process whose denials are few does not tell when those of the others began', () => {
  const flood = run(50, 60, { perMinute: 2400 })
  const before = run(40, 49, { perMinute: 2400 }) // of a process that a deployment has ended
  const old = run(2, 10, { perMinute: 9000 })
  const bot = run(0, 60, { perMinute: 3 })
  const joined = joinRuns([bot, old, before, flood])
  expect(joined).toEqual({ ...bot, risenMs: before.risenMs, perMinute: 2403 })
  expect(joinRuns([bot, old])?.risenMs).toBe(bot.risenMs)
})
