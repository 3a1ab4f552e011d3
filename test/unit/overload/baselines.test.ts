import { Baselines } from '../../../src/overload/baselines.js'

function add(baselines: Baselines, routeClass: string, count: number, ...latencies: number[]): void {
  for (let i = 0; i < count; i++) {
    for (const latencyMs of latencies) baselines.add(routeClass, latencyMs)
  }
}

let nowMs = 0

/** Closes a window, long after the beginning of the epoch and the last window. */
function observe(baselines: Baselines) {
  nowMs += 1e9
  return baselines.observe(nowMs, 1e9)
}

/** Has the first requests of a class be its baseline. */
function learn(baselines: Baselines, routeClass: string, count: number, ...latencies: number[]): void {
  for (let windows = 0; windows < 2; windows++) {
    add(baselines, routeClass, count, ...latencies)
    observe(baselines)
  }
}

test('until the first probe, the first hundred requests are the baseline, since the first that end are short', () => {
  const baselines = new Baselines()
  const means = [5, 10, 15, 30].map((latencyMs) => {
    add(baselines, 'a', 40, latencyMs)
    observe(baselines)
    return baselines.of('a')
  })
  expect(means).toEqual([5, 7.5, 10, 10])
})

test('the first ten windows are the baseline of a class with few requests', () => {
  const baselines = new Baselines()
  for (let i = 0; i < 30; i++) {
    add(baselines, 'a', 1, i < 10 ? 10 : 400)
    observe(baselines)
  }
  expect(baselines.of('a')).toBe(10)
})

test('the first window compares with itself', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 8, 12)
  expect(observe(baselines)).toEqual({ factor: 1, count: expect.closeTo(200 ** 2 / 2080, 9) })
  expect(baselines.of('a')).toBe(10)
  expect(baselines.of('b')).toBeUndefined()
})

test('a baseline never rises under load, and falls at once', () => {
  const baselines = new Baselines()
  learn(baselines, 'a', 100, 10)
  const seen = [10, 20, 1000, 6, 9].map((latencyMs) => {
    add(baselines, 'a', 100, latencyMs)
    const { factor } = observe(baselines)
    return [factor, baselines.of('a')]
  })
  const found = seen.flat().map((each) => Number(each?.toFixed(6)))
  expect(found).toEqual([1, 10, 2, 10, 100, 10, 1, 6, 1.5, 6])
})

test('no baseline falls until most requests have ended that began with the epoch', () => {
  const baselines = new Baselines()
  learn(baselines, 'a', 100, 10)
  const seen = [50, 51].map((epochAgeMs) => {
    add(baselines, 'a', 100, 5)
    baselines.observe(nowMs + epochAgeMs, epochAgeMs)
    return baselines.of('a')
  })
  expect(seen).toEqual([10, 5])
})

test('the first requests of a process are baselines at once; of few, those of the next windows add to them', () => {
  const found = [20, 19].map((count) => {
    const baselines = new Baselines()
    add(baselines, 'a', count, 10)
    baselines.start()
    const atStart = baselines.of('a')
    learn(baselines, 'a', count, 20)
    return [atStart, baselines.of('a')]
  })
  expect(found).toEqual([
    [10, 10],
    [10, expect.closeTo(16.67, 2)],
  ])
})

test('a few short requests of a class are chance', () => {
  const baselines = new Baselines()
  learn(baselines, 'a', 100, 10)
  add(baselines, 'a', 99, 5)
  observe(baselines)
  expect(baselines.of('a')).toBe(10)
  add(baselines, 'a', 1, 5)
  observe(baselines)
  expect(baselines.of('a')).toBeCloseTo(5, 6)
})

test('the first probe replaces what was learned under load, of all classes', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 40)
  add(baselines, 'b', 10, 400)
  observe(baselines)
  add(baselines, 'a', 10, 8, 12)
  baselines.probe()
  expect([baselines.of('a'), baselines.of('b')]).toEqual([10, undefined])
  add(baselines, 'b', 1000, 5)
  add(baselines, 'a', 10, 15, 25)
  expect(observe(baselines).factor).toBe(2) // b has no baseline, and does not count
  expect(baselines.of('b')).toBeUndefined()
})

test('a probe that met too few requests changes nothing, and the next one adds to it', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 40)
  observe(baselines)
  const seen = [4, 5, 1].map((count) => {
    add(baselines, 'a', count, 10)
    const { isUnsure } = baselines
    baselines.probe()
    return [isUnsure, baselines.of('a')]
  })
  expect(seen).toEqual([
    [true, 40],
    [true, 40],
    [false, 10],
  ])
})

test('probes count together, unless latencies have surely changed', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 8, 12)
  baselines.probe()
  add(baselines, 'a', 10, 9, 13) // differs by 1, and chance by 0.63
  baselines.probe()
  const together = baselines.of('a')
  add(baselines, 'a', 5, 20, 30)
  expect(baselines.probe()).toEqual({ slower: 25 / 10.5, isSure: true })
  expect([together, baselines.of('a')]).toEqual([10.5, 25])
})

test('a baseline rises by more than three times only if a second probe confirms it', () => {
  const [stalled, slower] = [11, 1000].map((secondMs) => {
    const baselines = new Baselines()
    add(baselines, 'a', 20, 10)
    baselines.probe()
    return [1000, secondMs].map((latencyMs) => {
      add(baselines, 'a', 20, latencyMs)
      return [baselines.probe(), Math.round(baselines.of('a') ?? 0)]
    })
  })
  const doubtful = [{ slower: 1, isSure: false }, 10]
  expect(stalled).toEqual([doubtful, [{ slower: expect.closeTo(1.1, 1), isSure: true }, 11]])
  expect(slower).toEqual([doubtful, [{ slower: 100, isSure: true }, 1000]])
})

test('probes that agree have a common mean', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 5, 5, 15)
  baselines.probe()
  add(baselines, 'a', 15, 7, 17)
  baselines.probe()
  expect(baselines.of('a')).toBe((10 * 10 + 30 * 12) / 40)
})

test('the slowdown is that of all time together, and sure if many requests took alike', () => {
  const baselines = new Baselines()
  learn(baselines, 'read', 900, 1)
  learn(baselines, 'report', 100, 50)
  add(baselines, 'read', 90, 7)
  add(baselines, 'report', 10, 56)
  const { factor, count } = observe(baselines)
  expect(factor).toBeCloseTo((90 * 7 + 560) / (90 + 500), 12)
  expect(count).toBeCloseTo(1190 ** 2 / (90 * 49 + 10 * 3136), 9)
})

test('a window without requests, or with a clock that stands still, says nothing', () => {
  const baselines = new Baselines()
  expect(observe(baselines)).toEqual({ factor: 1, count: 0 })
  add(baselines, 'a', 100, 0)
  expect(observe(baselines)).toEqual({ factor: 1, count: 0 })
  add(baselines, 'a', 100, 5)
  expect(observe(baselines).factor).toBe(2) // half of the first requests took no time
})

test('a discarded window does not count', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 10)
  observe(baselines)
  add(baselines, 'a', 1000, 1)
  baselines.discard()
  expect(observe(baselines)).toEqual({ factor: 1, count: 0 })
  expect(baselines.of('a')).toBe(10)
})

test('five hundred classes have their own baselines, and the rest share one', () => {
  const baselines = new Baselines()
  for (let i = 0; i < 500; i++) add(baselines, `class ${i}`, 10, i + 1)
  for (let i = 500; i < 10_000; i++) add(baselines, `class ${i}`, 1, 700)
  observe(baselines)
  const found = [0, 499, 500, 9999].map((i) => baselines.of(`class ${i}`))
  expect(found).toEqual([1, 500, 700, 700])
})

test('a baseline keeps what was measured until requests have been as many as now for five baselines', () => {
  const baselines = new Baselines()
  const addAll = (count: number, latencyMs: number) => {
    for (let i = 0; i < count; i++) baselines.add('all', latencyMs)
  }
  addAll(30, 100)
  baselines.start()
  const found = [100, 500, 501, 2000].map((settledMs) => {
    addAll(300, 20)
    baselines.observe(settledMs, settledMs)
    return Math.round(baselines.of('all') ?? 0)
  })
  expect(found).toEqual([100, 100, 31, 20])
})
