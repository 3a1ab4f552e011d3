import { Window } from '../../../src/overload/window.js'

function windowOf(count: number, { running = 10, latencyMs = 0 } = {}): Window {
  const window = new Window(1000, running, latencyMs)
  for (let i = 0; i < count; i++) {
    window.end(running + i)
    window.add(i)
  }
  return window
}

test('a window is over after 100 ms with ten requests, and after a second without any', () => {
  const seen = [9, 10].map((count) => [1099, 1100, 1999, 2000].map((nowMs) => windowOf(count).isOver(nowMs)))
  expect(seen).toEqual([
    [false, false, false, true],
    [false, true, true, true],
  ])
})

test('it stays open for two and a half latencies, and for a quarter of a minute at most', () => {
  const over = [40, 41, 1000, 10_000].map((latencyMs) => {
    const window = windowOf(10, { latencyMs })
    return [1100, 1102.5, 3499, 3500, 15_999, 16_000].filter((nowMs) => window.isOver(nowMs))[0]
  })
  expect(over).toEqual([1100, 1102.5, 3500, 16_000])
})

test('it knows the mean latency, and the most requests that ran at once', () => {
  const window = windowOf(5)
  window.end(3)
  window.add(4)
  const { isEmpty, meanMs, peak } = window
  expect([windowOf(0).isEmpty, isEmpty, meanMs, peak]).toEqual([true, false, 14 / 6, 14])
})

test('in a surge, more requests begin than chance explains', () => {
  expect([22, 23].map((running) => windowOf(16).isSurge(running))).toEqual([false, true])
})

test('the least delay of the event loop counts', () => {
  const factors = [[], [0], [30], [40, 60], [1000], [1000, 5], [Number.NaN]].map((delaysMs) => {
    const window = windowOf(0)
    for (const delayMs of delaysMs) window.addLoopDelay(delayMs)
    return window.loopFactor
  })
  expect(factors).toEqual([1, 1, 1, 0.75, 0.5, 1, 1])
})
