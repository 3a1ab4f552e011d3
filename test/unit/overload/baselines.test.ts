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

test('the first window compares with itself', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 8, 12)
  expect(observe(baselines)).toEqual({ factor: 1, count: expect.closeTo(200 ** 2 / 2080, 9) })
  expect(baselines.of('a')).toBe(10)
  expect(baselines.of('b')).toBeUndefined()
})

test('the slowdown is the ratio to a baseline, which follows requests only down', () => {
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

test('the first requests of a process are the baselines of their classes, and count once', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 20, 10)
  add(baselines, 'b', 20, 300)
  baselines.start()
  expect([baselines.of('a'), baselines.of('b')]).toEqual([10, 300])
  expect(observe(baselines)).toEqual({ factor: 1, count: 0 })
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

test('after the first probe, a new class has no baseline until its own', () => {
  const baselines = new Baselines()
  add(baselines, 'a', 10, 10)
  baselines.probe()
  add(baselines, 'b', 1000, 5)
  observe(baselines)
  const underLoad = baselines.of('b')
  add(baselines, 'b', 10, 4)
  baselines.probe()
  expect([underLoad, baselines.of('b')]).toEqual([undefined, 4])
})

test('a probe needs more requests while one of its classes has fewer than ten', () => {
  const baselines = new Baselines()
  add(baselines, 'absent', 1, 10)
  baselines.discard()
  const seen = [10, 9, 1].map((count, i) => {
    add(baselines, i === 0 ? 'a' : 'b', count, 10)
    return baselines.isUnsure
  })
  expect(seen).toEqual([false, true, false])
})

test('a probe tells how much slower its requests are, by the classes of all of them', () => {
  const baselines = new Baselines()
  add(baselines, 'read', 20, 10)
  add(baselines, 'report', 20, 100)
  baselines.probe()
  add(baselines, 'read', 30, 20)
  add(baselines, 'report', 10, 100)
  expect(baselines.probe()).toEqual({ slower: (30 * 20 + 10 * 100) / (30 * 10 + 10 * 100), isSure: true })
  expect(baselines.probe()).toEqual({ slower: 1, isSure: true }) // nothing is counted twice
})

test('a class that has to be probed once more says nothing about how much slower requests are', () => {
  const baselines = new Baselines()
  const seen = [
    [10, 100],
    [1000, 200],
    [1000, 200],
  ].map(([readMs = 0, reportMs = 0]) => {
    add(baselines, 'read', 20, readMs)
    add(baselines, 'report', 20, reportMs)
    return baselines.probe()
  })
  expect(seen).toEqual([
    { slower: 1, isSure: true },
    { slower: 2, isSure: false },
    { slower: (1000 + 200) / (10 + 200), isSure: true },
  ])
})

test('the slowdown of many classes is that of all time together, and sure if many requests took alike', () => {
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
