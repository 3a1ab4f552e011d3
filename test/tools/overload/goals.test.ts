import { goalsOf, type Runs, ratiosOf } from './goals.js'
import type { LiveRun } from './run.js'
import { scenarioNamed } from './scenarios.js'

const run = (changes: Partial<LiveRun> = {}): LiveRun => ({
  ...{ sent: 100, good: 100, denied: 0, lost: 0, cpuMs: 10, lagMs: 0 },
  ...{ sentBySecond: [100], goodBySecond: [100], groups: {} },
  ...changes,
})

const verdicts = (scenario: string, runs: Runs, guard = 'headgate') =>
  goalsOf(scenarioNamed(scenario), runs, guard).map(({ reached, isMet }) => [reached, isMet])

test('goodput is compared with the fixed limit in the same round, and the worst round counts', () => {
  const runs = new Map([
    ['fixed', [run({ good: 100 }), run({ good: 50 })]],
    ['headgate', [run({ good: 90 }), run({ good: 44 })]],
    ['Envoy', [run({ good: 90 })]],
  ])
  expect(ratiosOf(runs, 'headgate')).toEqual([0.9, 0.88])
  expect(verdicts('backend, 2 times', runs)).toEqual([['0.88', false]])
  expect(verdicts('backend, 2 times', runs, 'Envoy')).toEqual([['0.90', true]])
  runs.delete('fixed')
  expect(verdicts('backend, 2 times', runs)).toEqual([])
})

test('below the capacity, one denied request misses a goal', () => {
  const withDenied = (denied: number) =>
    new Map([
      ['fixed', [run()]],
      ['headgate', [run({ denied })]],
    ])
  expect([0, 1].map((denied) => verdicts('backend, 0.7 times', withDenied(denied))[1])).toEqual([
    ['0', true],
    ['1', false],
  ])
})

test('critical requests are compared with those to an idle server, and may not be lost', () => {
  const withP99 = (criticalP99Ms?: number) =>
    new Map([
      ['fixed', [run({ idleP99Ms: 60 })]],
      ['none', [run({ idleP99Ms: 50 })]],
      ['headgate', [run({ idleP99Ms: 40, ...(criticalP99Ms && { criticalP99Ms }) })]],
    ])
  const reached = [100, 101, undefined].map((ms) => verdicts('backend, classes at 5 times', withP99(ms))[1])
  expect(reached).toEqual([
    ['2.0 times', true],
    ['2.0 times', false],
    ['lost', false],
  ])
})

test('tenants within their shares together lose at most one in a hundred', () => {
  const withLost = (lost: number) => {
    const groups = { others: { sent: 200, good: 200 - lost } }
    return new Map([
      ['fixed', [run({ groups })]],
      ['headgate', [run({ groups })]],
    ])
  }
  expect([2, 3].map((lost) => verdicts('backend, a heavy tenant', withLost(lost))[1])).toEqual([
    ['1.00 %', true],
    ['1.50 %', false],
  ])
})

test('a server has to recover within three seconds', () => {
  const after = (recoveredAfter: number | undefined) =>
    new Map([
      ['fixed', [run()]],
      ['headgate', [run({ recoveredAfter })]],
    ])
  const reached = [3, 4, undefined].map(
    (seconds) => verdicts('small, a herd after a pause', after(seconds))[1],
  )
  expect(reached).toEqual([
    ['3 s', true],
    ['4 s', false],
    ['never', false],
  ])
})
