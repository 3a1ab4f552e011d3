import fc from 'fast-check'
import { eventQueue } from './event-queue.js'

const eventAt = (atMs: number) => ({ atMs, run: () => {}, settles: false })

function drain(queue: ReturnType<typeof eventQueue>, untilMs = Number.POSITIVE_INFINITY) {
  const events = []
  for (let event = queue.next(untilMs); event; event = queue.next(untilMs)) events.push(event)
  return events
}

test('events come in the order of their times, and those of one time as they were added', () => {
  const property = fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (times) => {
    const queue = eventQueue()
    const events = times.map(eventAt)
    for (const event of events) queue.add(event)
    const expected = events.toSorted((a, b) => a.atMs - b.atMs)
    const drained = drain(queue)
    expect(drained).toHaveLength(expected.length)
    for (const [i, event] of drained.entries()) expect(event).toBe(expected[i])
  })
  fc.assert(property)
})

test('an event added meanwhile comes before later ones', () => {
  const queue = eventQueue()
  for (const atMs of [30, 10, 20]) queue.add(eventAt(atMs))
  expect(queue.next(100)?.atMs).toBe(10)
  queue.add(eventAt(15))
  expect(drain(queue).map(({ atMs }) => atMs)).toEqual([15, 20, 30])
})

test('events after the given time stay in the queue', () => {
  const queue = eventQueue()
  for (const atMs of [1, 2, 3]) queue.add(eventAt(atMs))
  expect(drain(queue, 2).map(({ atMs }) => atMs)).toEqual([1, 2])
  expect(drain(queue, 3).map(({ atMs }) => atMs)).toEqual([3])
})
