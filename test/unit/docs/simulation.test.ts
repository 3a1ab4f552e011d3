import { openingSimulation } from '../../../docs/.vitepress/theme/policies/opening.js'
import { SHOWN } from '../../../docs/.vitepress/theme/policies/shown.js'
import { createSimulation } from '../../../docs/.vitepress/theme/policies/simulation.js'
import { countsOf, nextText, outcomeText } from '../../../docs/.vitepress/theme/policies/words.js'

const START_MS = 1_780_000_009_000 // a second before a window ends
const TITLES = SHOWN.map(({ title }) => title)

function start() {
  return createSimulation(
    SHOWN.map(({ policy }) => policy),
    START_MS,
  )
}

test('each policy gets the same requests, at their times, whatever the frames are', () => {
  const [smooth, rough] = [start(), start()]
  for (const simulation of [smooth, rough]) {
    simulation.burst(10, START_MS)
    simulation.stream(5, START_MS + 2000)
  }
  for (let ms = 0; ms <= 8000; ms += 16) smooth.advance(START_MS + ms)
  rough.advance(START_MS + 8000)
  for (const [i, { marks }] of smooth.lanes.entries()) expect(marks).toEqual(rough.lanes[i]?.marks)
  const times = smooth.lanes.map(({ marks }) => marks.map(({ atMs }) => atMs))
  for (const each of times) expect(each).toEqual(times[0])
})

test('ten requests on each side of a border: only the fixed window allows all', () => {
  const simulation = start()
  simulation.burst(10, START_MS + 400)
  simulation.advance(START_MS + 1100)
  simulation.burst(10, START_MS + 1100)
  simulation.advance(START_MS + 2000)
  const allowed = simulation.lanes.map((lane) => countsOf(lane).allowed)
  expect(allowed).toEqual([11, 10, 10, 20])
  expect(outcomeText(TITLES, simulation.lanes, START_MS + 1100)).toBe(
    'Allowed: Token bucket 1 of 10, Sliding window 0 of 10, Sliding log 0 of 10, Fixed window 10 of 10.',
  )
})

test('it is idle once its strips are empty, and no request is to come', () => {
  const simulation = start()
  expect(simulation.isIdle()).toBe(true)
  simulation.burst(1, START_MS)
  expect(simulation.isIdle()).toBe(false)
  simulation.advance(START_MS + 19_000)
  expect(simulation.isIdle()).toBe(false)
  simulation.advance(START_MS + 21_000)
  expect(simulation.isIdle()).toBe(true)
  simulation.stream(1, START_MS + 21_000)
  expect(simulation.isIdle()).toBe(false)
})

test('the page opens with policies that have decided differently, one of which says when to retry', () => {
  const { simulation, nowMs } = openingSimulation()
  const allowed = simulation.lanes.map((lane) => countsOf(lane).allowed)
  expect(new Set(allowed).size).toBeGreaterThan(2)
  const texts = simulation.lanes.map((lane) => nextText(lane.read(nowMs)))
  expect(texts).toContainEqual(expect.stringMatching(/^retry in \d\.\d\d s$/))
})

test('says when the next request is allowed', () => {
  expect(nextText({ retryAfterMs: 0 })).toBe('next one allowed')
  expect(nextText({ retryAfterMs: 1234.5 })).toBe('retry in 1.23 s')
})
