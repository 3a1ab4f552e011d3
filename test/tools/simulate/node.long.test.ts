import { simulatedNode } from './node.js'
import { exponential, randomFrom } from './random.js'

const COSTS = { requestUs: 10, callUs: 3, keyUs: 2, chargeUs: 1 }
const ONE = { calls: 1, keys: 1, charges: 1 }

test('a request takes its own cost, and that of its calls, keys and charges', () => {
  expect(simulatedNode(COSTS).serve(100, { calls: 3, keys: 5, charges: 7 })).toBeCloseTo(100.036, 9)
})

test('a request waits until those before it have been served', () => {
  const node = simulatedNode(COSTS)
  expect(node.serve(100, ONE)).toBeCloseTo(100.016, 9)
  expect(node.serve(100.01, ONE)).toBeCloseTo(100.032, 9)
  expect(node.serve(200, ONE)).toBeCloseTo(200.016, 9)
  expect(node.served).toEqual({ requests: 3, calls: 3, busyMs: expect.closeTo(0.048, 9) })
})

test('a slow node takes so many times longer', () => {
  expect(simulatedNode(COSTS, { slowness: 10 }).serve(0, ONE)).toBeCloseTo(0.16, 9)
})

test('a lost node answers nothing, and is not busy', () => {
  const node = simulatedNode(COSTS, { lostFromMs: 10, lostUntilMs: 20 })
  expect([9.9, 10, 19.9, 20].map((atMs) => node.serve(atMs, ONE) !== undefined)).toEqual([
    true,
    false,
    false,
    true,
  ])
  expect(node.served.requests).toBe(2)
})

/** Pollaczek and Khinchine: with Poisson arrivals and equal service times (M/D/1). */
test.each([0.3, 0.6, 0.8])('at a load of %d, requests wait as long as the M/D/1 formula says', (load) => {
  const serviceMs = 0.016
  const node = simulatedNode(COSTS)
  const random = randomFrom(7)
  const requests = 300_000
  let [nowMs, waitedMs] = [0, 0]
  for (let i = 0; i < requests; i++) {
    nowMs += exponential(random, load / serviceMs)
    waitedMs += (node.serve(nowMs, ONE) as number) - nowMs - serviceMs
  }
  const expectedMs = (serviceMs * load) / (2 * (1 - load))
  expect(waitedMs / requests / expectedMs).toBeCloseTo(1, 1)
  expect(node.served.busyMs / nowMs).toBeCloseTo(load, 1)
})
