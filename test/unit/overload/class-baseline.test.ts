import { ClassBaseline } from '../../../src/overload/class-baseline.js'

function add(baseline: ClassBaseline, count: number, ...latencies: number[]): void {
  for (let i = 0; i < count; i++) {
    for (const latencyMs of latencies) baseline.window.add(latencyMs)
  }
}

let nowMs = 0

/** Closes a window, long after the last one. The number of requests has been steady for `settledMs`. */
function observe(baseline: ClassBaseline, settledMs = 1e9): number | undefined {
  nowMs += 1e9
  baseline.observe(nowMs, settledMs)
  baseline.window.clear()
  return baseline.baselineMs
}

/** Closes the window of a probe. */
function probe(baseline: ClassBaseline): [isSure: boolean, baselineMs: number | undefined] {
  const isSure = baseline.probe(false)
  baseline.window.clear()
  return [isSure, baseline.baselineMs]
}

/** Returns a class whose first requests were its baseline. */
function learned(...latencies: number[]): ClassBaseline {
  const baseline = new ClassBaseline(true)
  for (let windows = 0; windows < 2; windows++) {
    add(baseline, 100, ...latencies)
    observe(baseline)
  }
  return baseline
}

test('until the first probe, the first hundred requests are the baseline, since the first that end are short', () => {
  const baseline = new ClassBaseline(true)
  const means = [5, 10, 15, 30].map((latencyMs) => {
    add(baseline, 40, latencyMs)
    return observe(baseline)
  })
  expect(means).toEqual([5, 7.5, 10, 10])
})

test('the first ten windows are the baseline of a class with few requests', () => {
  const baseline = new ClassBaseline(true)
  for (let i = 0; i < 30; i++) {
    add(baseline, 1, i < 10 ? 10 : 400)
    observe(baseline)
  }
  expect(baseline.baselineMs).toBe(10)
})

test('a baseline never rises under load, and falls at once', () => {
  const baseline = learned(10)
  const means = [10, 20, 1000, 6, 9].map((latencyMs) => {
    add(baseline, 100, latencyMs)
    return Number(observe(baseline)?.toFixed(6))
  })
  expect(means).toEqual([10, 10, 10, 6, 6])
})

test('no baseline falls until the number of requests has been steady for five baselines', () => {
  const baseline = learned(10)
  const means = [50, 51].map((settledMs) => {
    add(baseline, 100, 5)
    return observe(baseline, settledMs)
  })
  expect(means).toEqual([10, 5])
})

test('the first requests of a process are the baseline at once; of few, those of the next windows add to them', () => {
  const means = [20, 19].map((count) => {
    const baseline = new ClassBaseline(true)
    add(baseline, count, 10)
    baseline.start()
    baseline.window.clear()
    const atStart = baseline.baselineMs
    for (let windows = 0; windows < 2; windows++) {
      add(baseline, count, 20)
      observe(baseline)
    }
    return [atStart, baseline.baselineMs]
  })
  expect(means).toEqual([
    [10, 10],
    [10, expect.closeTo(16.67, 2)],
  ])
})

test('what was measured at the start stays until requests have been as many as now for five baselines', () => {
  const baseline = new ClassBaseline(true)
  add(baseline, 30, 100)
  baseline.start()
  baseline.window.clear()
  const means = [100, 500, 501, 2000].map((atMs) => {
    add(baseline, 300, 20)
    baseline.observe(atMs, atMs)
    baseline.window.clear()
    return Math.round(baseline.baselineMs ?? 0)
  })
  expect(means).toEqual([100, 100, 31, 20])
})

test('a few short requests of a class are chance', () => {
  const baseline = learned(10)
  add(baseline, 99, 5)
  expect(observe(baseline)).toBe(10)
  add(baseline, 1, 5)
  expect(observe(baseline)).toBeCloseTo(5, 6)
})

test('a class that does not learn under load has no baseline until a probe has shown one', () => {
  const baseline = new ClassBaseline(false)
  add(baseline, 1000, 5)
  expect(observe(baseline)).toBeUndefined()
  add(baseline, 10, 20)
  expect(probe(baseline)).toEqual([true, 20])
})

test('a probe that met too few requests changes nothing, and the next one adds to it', () => {
  const baseline = new ClassBaseline(true)
  add(baseline, 10, 40)
  observe(baseline)
  const seen = [4, 5, 1].map((count) => {
    add(baseline, count, 10)
    return [baseline.isUnsure, ...probe(baseline)]
  })
  expect(seen).toEqual([
    [true, true, 40],
    [true, true, 40],
    [false, true, 10],
  ])
})

test('probes count together, unless latencies have surely changed', () => {
  const baseline = new ClassBaseline(true)
  const seen = [
    [10, 8, 12],
    [10, 9, 13], // differs by 1, and chance by 0.63
    [5, 20, 30],
  ].map(([count = 0, ...latencies]) => {
    add(baseline, count, ...latencies)
    return probe(baseline)
  })
  expect(seen).toEqual([
    [true, 10],
    [true, 10.5],
    [true, 25],
  ])
})

test('probes that agree have a common mean', () => {
  const baseline = new ClassBaseline(true)
  add(baseline, 5, 5, 15)
  probe(baseline)
  add(baseline, 15, 7, 17)
  expect(probe(baseline)).toEqual([true, (10 * 10 + 30 * 12) / 40])
})

test('a baseline rises by more than three times only if a second probe confirms it', () => {
  const seen = [11, 1000].map((secondMs) => {
    const baseline = new ClassBaseline(true)
    add(baseline, 20, 10)
    probe(baseline)
    return [1000, secondMs].map((latencyMs) => {
      add(baseline, 20, latencyMs)
      return probe(baseline)
    })
  })
  expect(seen).toEqual([
    [
      [false, 10],
      [true, 11],
    ],
    [
      [false, 10],
      [true, 1000],
    ],
  ])
})
