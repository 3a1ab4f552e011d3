import fc from 'fast-check'
import { AdaptiveLimit, type AdaptiveLimitOptions } from '../../../src/overload/adaptive-limit.js'

const limitOf = (changes: Partial<AdaptiveLimitOptions> = {}) =>
  new AdaptiveLimit({ initial: 20, min: 3, max: 1000, tolerance: 1.4, random: () => 0.5, ...changes })

/** A window of 100 ms with 80 requests that all took the same time, while `running` ran. */
function window(limit: AdaptiveLimit, untilMs: number, latencyMs: number, running = limit.current): number {
  for (let i = 0; i < 80; i++) limit.sample('all', latencyMs, limit.epoch, running)
  limit.advance(untilMs)
  return Math.round(limit.limit * 10) / 10
}

test('the limit grows while latencies are as without a queue, and shrinks while they are not', () => {
  const limit = limitOf()
  limit.advance(0)
  const limits = [10, 10, 14, 28, 40, 40].map((latencyMs, i) => window(limit, 100 * (i + 1), latencyMs))
  expect(limits).toEqual([30, 44, 49.3, 35.2, 25.8, 19.6])
})

test('the limit that a steady queue leaves is where it neither grows nor shrinks', () => {
  const limit = limitOf()
  for (let i = 1; i < 3; i++) window(limit, 100 * i, 10)
  for (let i = 3; i < 200; i++) window(limit, 100 * i, (limit.current / 8) * 10) // 8 workers, Little's law
  expect(limit.limit).toBeCloseTo(15.084, 3) // l = 1.4 × 8 + √l
})

test('the limit does not grow while less than half of it is used', () => {
  const limit = limitOf()
  expect([window(limit, 100, 10, 9), window(limit, 200, 10, 10)]).toEqual([20, 30])
})

test('a window with fewer requests moves it less', () => {
  const moved = [10, 20, 80].map((count) => {
    const limit = limitOf()
    for (let i = 0; i < count; i++) limit.sample('all', 10, limit.epoch, 20)
    limit.advance(100)
    return limit.limit - 20
  })
  const whole = 20 * 0.4 + Math.sqrt(20)
  expect(moved.map((each) => Number((each / whole).toFixed(6)))).toEqual(
    [1 / 3, 1 / 2, 4 / 5].map((each) => Number(each.toFixed(6))),
  )
})

test('it stays between its bounds', () => {
  const low = limitOf({ min: 10 })
  for (let i = 1; i < 3; i++) window(low, 100 * i, 1)
  for (let i = 3; i < 50; i++) window(low, 100 * i, 1000)
  const high = limitOf({ max: 50 })
  for (let i = 1; i < 50; i++) window(high, 100 * i, 10)
  expect([low.limit, high.limit]).toEqual([10, 50])
})

test('the first denial starts a probe, in which three requests run at once', () => {
  const limit = limitOf()
  window(limit, 100, 40)
  limit.denied(150)
  limit.advance(151)
  expect([limit.isProbing, limit.current, limit.limit > 20]).toEqual([true, 3, true])
  for (let i = 0; i < 29; i++) limit.sample('all', 10, limit.epoch, 3)
  limit.advance(200)
  expect(limit.isProbing).toBe(true)
  limit.sample('all', 10, limit.epoch, 3)
  limit.advance(201)
  expect([limit.isProbing, limit.baselineMs('all')]).toEqual([false, 10])
})

test('after a calm second, the first probe waits until denials last', () => {
  const limit = limitOf()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 4000; nowMs += 10) {
    const wasProbing = limit.isProbing
    limit.sample('all', 10, limit.epoch, 3)
    if ((nowMs >= 1500 && nowMs < 2000) || nowMs >= 2500) limit.denied(nowMs)
    limit.advance(nowMs)
    if (limit.isProbing && !wasProbing) probes.push(nowMs)
  }
  expect(probes).toEqual([3500])
})

test('requests that began before a probe count neither for it nor after it', () => {
  const limit = limitOf()
  window(limit, 100, 10)
  const before = limit.epoch
  limit.denied(150)
  limit.advance(151)
  const during = limit.epoch
  for (let i = 0; i < 1000; i++) limit.sample('all', 500, before, 20)
  limit.advance(200)
  expect(limit.isProbing).toBe(true)
  for (let i = 0; i < 30; i++) limit.sample('all', 10, during, 3)
  limit.advance(201)
  expect([limit.isProbing, limit.baselineMs('all')]).toEqual([false, 10])
  const atEnd = limit.limit
  for (let i = 0; i < 1000; i++) limit.sample('all', 1, i % 2 === 0 ? before : during, 20)
  limit.advance(400)
  expect([limit.limit, limit.baselineMs('all')]).toEqual([atEnd, 10])
})

test('the next probe needs denials that last for a second, half a minute later', () => {
  const limit = limitOf()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 100_000; nowMs += 10) {
    const wasProbing = limit.isProbing
    limit.sample('all', 10, limit.epoch, 3)
    if (nowMs < 20_000 || nowMs > 60_000) limit.denied(nowMs)
    limit.advance(nowMs)
    if (limit.isProbing && !wasProbing) probes.push(nowMs)
  }
  expect(probes).toEqual([0, 61_010, 91_310])
})

test('a probe without requests is given up', () => {
  const limit = limitOf()
  limit.denied(0)
  limit.advance(0)
  const probing = [30_000, 30_001].map((nowMs) => {
    limit.advance(nowMs)
    return limit.isProbing
  })
  expect(probing).toEqual([true, false])
})

test('a long probe is followed by a longer time without one', () => {
  const limit = limitOf()
  limit.denied(0)
  limit.advance(0)
  limit.advance(30_001) // given up after 30 s, so the next is due after 600 s
  const probing = [630_000, 630_001, 630_022].map((nowMs) => {
    limit.denied(nowMs - 2000)
    limit.advance(nowMs)
    return limit.isProbing
  })
  expect(probing).toEqual([false, false, true])
})

test('an event loop that is always late lowers the limit, and a pause does not', () => {
  const limit = limitOf()
  limit.loopDelay(400)
  limit.loopDelay(2)
  limit.advance(1000)
  const paused = limit.limit
  limit.loopDelay(60)
  limit.loopDelay(40)
  limit.advance(2000)
  const late = limit.limit
  limit.loopDelay(5000)
  limit.advance(3000)
  expect([paused, late, limit.limit]).toEqual([20, 15, 7.5])
})

test('a loop that is on time never raises the limit, and the floor holds', () => {
  const limit = limitOf({ initial: 4 })
  limit.loopDelay(0)
  limit.advance(1000)
  expect(limit.limit).toBe(4)
  limit.loopDelay(1000)
  limit.advance(2000)
  expect(limit.limit).toBe(3)
})

test('whatever the clock and the latencies do, the limit stays a number within its bounds', () => {
  const odd = fc.oneof(
    fc.double({ min: -1e6, max: 1e6 }),
    fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e300),
  )
  const step = fc.record({
    latencyMs: odd,
    stepMs: fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.constant(0)),
    delayMs: odd,
    isDenied: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const limit = limitOf()
      let nowMs = 0
      for (const { latencyMs, stepMs, delayMs, isDenied } of steps) {
        nowMs += stepMs
        for (let i = 0; i < 12; i++) limit.sample('all', latencyMs, limit.epoch, 20)
        limit.loopDelay(delayMs)
        if (isDenied) limit.denied(nowMs)
        limit.advance(nowMs)
        if (!(limit.limit >= 3 && limit.limit <= 1000)) return false
      }
      return true
    }),
  )
})

test('no probe runs while denials keep nothing out', () => {
  let canProbe = false
  const limit = limitOf({ canProbe: () => canProbe })
  const isProbing = () => {
    limit.denied(0)
    limit.advance(0)
    return limit.isProbing
  }
  const before = isProbing()
  canProbe = true
  expect([before, isProbing()]).toEqual([false, true])
})
