import { Workers } from './workers.js'

test('each request goes to the worker that is free first, and waits for it', () => {
  const workers = new Workers(2)
  const finished = [
    [0, 10],
    [0, 4],
    [1, 10], // waits for the second worker until 4
    [2, 10], // and for the first until 10
    [100, 5], // both are free
  ].map(([nowMs = 0, serviceMs = 0]) => workers.finishAtMs(nowMs, serviceMs))
  expect(finished).toEqual([10, 4, 14, 20, 105])
})

test('workers that are gone get no requests, and are free when they come back', () => {
  const workers = new Workers(2)
  const finished = [2, 1, 1, 2].map((count) => workers.finishAtMs(0, 10, count))
  expect(finished).toEqual([10, 20, 30, 10])
})
