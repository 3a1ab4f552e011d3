import type { ServerResponse } from 'node:http'
import { nodeOverloadWriter } from '../../../src/overload/first-byte.js'
import { LoopWait } from '../../../src/overload/loop-wait.js'
import { RequestPlace } from '../../../src/overload/place.js'
import { type ProcessClock, ProcessGuard } from '../../../src/overload/process-guard.js'
import { RequestPlaces } from '../../../src/overload/request-places.js'
import { requestAndResponse } from '../../support/request-response.js'

const USUAL_MS = 10

/** A guard whose clock the test sets, and which has learned that requests take 10 ms. */
function trainedPlaces() {
  const clock = { ms: 1000 }
  const now = () => clock.ms
  const process: ProcessClock = {
    ...{ now, random: () => 0.5, loop: new LoopWait(undefined) },
    startTimer: () => () => undefined,
  }
  const settings = { minLimit: 3, maxLimit: 100, maxWaitMs: 0, weightOf: () => 1 }
  const guard = new ProcessGuard(settings, () => true, process)
  const places = new RequestPlaces<object, ServerResponse>(guard, nodeOverloadWriter, {})

  function begin() {
    const { req, res } = requestAndResponse()
    req.url = '/users'
    const place = new RequestPlace<object, ServerResponse>(places, req, res, undefined, 1)
    expect(guard.offerRequest(place)).toBe('admitted')
    places.start(place)
    place.hasPassed = true
    return { place, res }
  }

  const first = Array.from({ length: 40 }, begin)
  clock.ms += USUAL_MS
  for (const { place } of first) place.begin()
  begin() // closes the measurement
  return { clock, guard, begin }
}

test.each([
  [200, 5, 'GET /users'],
  [200, 50, 'GET /users'],
  [404, 5, 'GET failed /users'],
  [404, 50, 'GET failed /users'],
  [504, 5, 'GET failed /users'],
  [504, 50, 'GET /users'],
])('a %d after %d ms is compared with others of the class %s', (status, tookMs, expected) => {
  const { clock, guard, begin } = trainedPlaces()
  const ended = jest.spyOn(guard, 'end')
  const { place, res } = begin()
  clock.ms += tookMs
  res.statusCode = status
  place.begin()
  expect(ended.mock.calls.map(([, routeClass]) => routeClass)).toEqual([expected])
})

test('a handler whose client leaves at once has its place for as long as such requests take', () => {
  const { clock, guard, begin } = trainedPlaces()
  const { running } = guard
  const { place } = begin()
  clock.ms += 1
  place.leave()
  clock.ms += USUAL_MS - 1
  expect(guard.status().running).toBe(running + 1)
  clock.ms += 1
  expect(guard.status().running).toBe(running)
})
