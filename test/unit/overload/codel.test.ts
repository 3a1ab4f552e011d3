import { Codel } from '../../../src/overload/codel.js'

test('in a burst, requests may wait longer than in a queue that stands', () => {
  const codel = new Codel(5, 100)
  codel.observe(5, 1005)
  const waits = [1005, 1500, 1500.001, 1505].map((nowMs) => codel.maxWaitMs(nowMs))
  expect(waits).toEqual([100, 100, 5, 5])
})

test('a request that waited for less than the target shows that the queue does not stand', () => {
  const codel = new Codel(5, 100)
  codel.observe(50, 50)
  codel.observe(4.9, 400)
  codel.observe(10, 450)
  expect([codel.maxWaitMs(940), codel.maxWaitMs(941)]).toEqual([100, 5])
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
  codel.observe(99, 501)
  const seen = [codel.maxWaitMs(501)]
  codel.observe(6, 600)
  codel.observe(0, 601) // one short wait alone does not end it
  for (const nowMs of [1100, 1101]) seen.push(codel.maxWaitMs(nowMs))
  expect(seen).toEqual([5, 5, 100])
})
