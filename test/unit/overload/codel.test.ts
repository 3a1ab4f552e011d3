import { Codel } from '../../../src/overload/codel.js'

test('in a burst, requests may wait longer than in a queue that stands', () => {
  const codel = new Codel(5, 100)
  codel.observe(5, 1005)
  const waits = [1005, 2000, 2000.001, 2005].map((nowMs) => codel.maxWaitMs(nowMs))
  expect(waits).toEqual([100, 100, 5, 5])
})

test('a request that waited for less than the target shows that the queue does not stand', () => {
  const codel = new Codel(5, 100)
  codel.observe(50, 50)
  codel.observe(4.9, 400)
  codel.observe(10, 450)
  expect([codel.maxWaitMs(1440), codel.maxWaitMs(1441)]).toEqual([100, 5])
})

test('a queue that was empty does not stand, however long ago its last request waited', () => {
  const codel = new Codel(5, 100)
  const never = codel.maxWaitMs(1_000_000)
  codel.observe(50, 1_000_000)
  codel.begin()
  expect([never, codel.maxWaitMs(2_000_000)]).toEqual([100, 100])
})

test('a queue that stood is a burst again when no request has waited long for the same time', () => {
  const codel = new Codel(5, 100)
  codel.observe(99, 99)
  codel.observe(99, 1001)
  const seen = [codel.maxWaitMs(1001)]
  codel.observe(6, 1100)
  codel.observe(0, 1101) // one short wait alone does not end it
  for (const nowMs of [2100, 2101]) seen.push(codel.maxWaitMs(nowMs))
  expect(seen).toEqual([5, 5, 100])
})
