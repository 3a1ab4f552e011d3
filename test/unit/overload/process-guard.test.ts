import { LoopWait } from '../../../src/overload/loop-wait.js'
import { Place } from '../../../src/overload/place.js'
import { ProcessGuard } from '../../../src/overload/process-guard.js'

/**
 * A guard whose process the test runs: thirty requests of 10 ms have ended, one after the other, and the
 * event loop was idle in between.
 */
function startedGuard() {
  let [nowMs, idleMs] = [1000, 1000]
  const ends: (() => void)[] = []
  const loop = new LoopWait({
    now: () => nowMs,
    idleMs: () => idleMs,
    afterEvents: (end) => ends.push(end),
  })
  const clock = { now: () => nowMs, loop, random: () => 0.5, startTimer: () => () => undefined }
  const settings = { minLimit: 3, maxLimit: 1000, maxWaitMs: 0, weightOf: () => 1 }
  const guard = new ProcessGuard(settings, () => true, clock)
  const turn = () => {
    for (const end of ends.splice(0)) end()
  }
  const offer = () => {
    const place = new Place(1, undefined)
    return guard.offerRequest(place) === 'admitted' ? place : undefined
  }
  const idle = (ms: number) => {
    nowMs += ms
    idleMs += ms
  }
  for (let i = 0; i < 31; i++) {
    const place = offer() as Place
    turn()
    idle(10)
    guard.end(place, 'all', true)
  }
  return { guard, offer, turn, idle, work: (ms: number) => (nowMs += ms) }
}

test('a burst of forty to a quiet server is admitted', () => {
  const { offer } = startedGuard()
  const places = Array.from({ length: 60 }, offer)
  expect(places.filter(Boolean)).toHaveLength(40)
})

test('while the event loop is busy, a server admits twenty, also if it handles requests in whole turns', () => {
  const { guard, offer, turn, work } = startedGuard()
  // each turn reads what has arrived during the last one, and does the work of all of it after that
  const admitted = [1, 2, 4, 8, 15, 30].map((arrived) => {
    const places = Array.from({ length: arrived }, offer).filter((place) => place !== undefined)
    work(5 * places.length)
    for (const place of places) guard.end(place, 'all', true)
    turn()
    return places.length
  })
  expect(admitted).toEqual([1, 2, 4, 8, 15, 20])
})

test('a server that is busy for a moment, with few requests, keeps its places', () => {
  const { guard, offer, turn, idle, work } = startedGuard()
  const places = Array.from({ length: 10 }, offer)
  work(200)
  turn()
  offer()
  expect(guard.status().limit).toBe(40)
  turn()
  idle(10)
  for (const place of places) if (place) guard.end(place, 'all', true)
  expect(Array.from({ length: 60 }, offer).filter(Boolean)).toHaveLength(39) // and one runs
})
