import fc from 'fast-check'
import { AdaptiveLimit, type AdaptiveLimitOptions } from '../../../src/overload/adaptive-limit.js'

const newLimit = (changes: Partial<AdaptiveLimitOptions> = {}) =>
  new AdaptiveLimit({
    ...{ initial: 20, initialIfBusy: changes.initial ?? 20, min: 3, max: 1000, tolerance: 1.4 },
    ...{ random: () => 0.5, ...changes },
  })

/** Has so many requests begin and end that all took the same time, while `running` ran. */
function requests(limit: AdaptiveLimit, count: number, latencyMs: number, running = limit.current): void {
  for (let i = 0; i < count; i++) limit.end('all', latencyMs, limit.begin(0), running)
}

/** A limit of 20 that has started with requests of 10 ms. */
function limitOf(changes?: Partial<AdaptiveLimitOptions>): AdaptiveLimit {
  const limit = newLimit(changes)
  requests(limit, 30, 10)
  limit.advance(0, 0)
  return limit
}

/** The same for a server that started under overload: the next request would take 23 ms, or longer if more run. */
function overloadedLimit(running = 7, changes?: Partial<AdaptiveLimitOptions>): AdaptiveLimit {
  const limit = newLimit(changes)
  limit.advance(-100, 0)
  requests(limit, 30, 10)
  limit.advance(0, running)
  return limit
}

/** A window of 100 ms with 80 requests. Returns the limit after it. */
function window(limit: AdaptiveLimit, untilMs: number, latencyMs: number, running = limit.current): number {
  requests(limit, 80, latencyMs, running)
  limit.advance(untilMs, 0)
  return Math.round(limit.limit * 10) / 10
}

/** A limit of 100 that has fallen: for half a second, requests took five times as long, and some were denied. */
function fallenLimit(): AdaptiveLimit {
  const limit = limitOf({ initial: 100 })
  for (let i = 1; i < 13; i++) window(limit, 100 * i, 10, 40)
  for (let nowMs = 1350; nowMs < 2000; nowMs += 150) {
    limit.recordDenial(nowMs - 50)
    window(limit, nowMs, 50, 100)
  }
  return limit
}

/** A probe after denials that have lasted for more than a second. */
function laterProbe(limit: AdaptiveLimit, latencyMs: number, nowMs = 2350): void {
  limit.recordDenial(nowMs)
  limit.advance(nowMs, 3)
  requests(limit, 30, latencyMs, 3)
  limit.advance(nowMs + 50, 3)
}

test('until the first thirty requests have ended, all are admitted; then as many as run, and some more', () => {
  const limit = newLimit()
  const epochs = Array.from({ length: 200 }, () => limit.begin(0))
  for (const [i, epoch] of epochs.slice(1).entries()) limit.end('all', 1 + (i % 29), epoch, 200)
  limit.advance(100, 200)
  expect([limit.current, limit.baselineMs('all')]).toEqual([1000, undefined])
  limit.end('all', 165, epochs[0] as number, 200)
  limit.advance(200, 100)
  expect([limit.current, limit.baselineMs('all')]).toEqual([140, 20])
})

test('in a probe too, no more than the highest limit run at once', () => {
  const limit = limitOf({ max: 16 })
  const hung = Array.from({ length: 16 }, () => limit.begin(1000))
  const places: number[] = []
  for (let nowMs = 1000; nowMs < 150_000; nowMs += 500) {
    limit.recordDenial(nowMs)
    limit.advance(nowMs, hung.length)
    places.push(limit.current)
  }
  expect([Math.min(...places), Math.max(...places)]).toEqual([4, 16])
})

test('after two seconds, ten requests are enough to start with, and after a minute, none', () => {
  const few = newLimit()
  const none = newLimit()
  for (const limit of [few, none]) limit.advance(0, 0)
  requests(few, 10, 40)
  const limits = [2000, 2001, 60_000, 60_001].map((nowMs) => {
    for (const limit of [few, none]) limit.advance(nowMs, 0)
    return [few.current, none.current]
  })
  expect(limits).toEqual([
    [1000, 1000],
    [20, 1000],
    [20, 1000],
    [20, 20],
  ])
})

test('the limit grows while latencies are as without a queue, and shrinks while they are not', () => {
  const limit = limitOf()
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
    requests(limit, count, 10, 20)
    limit.advance(100, 0)
    return limit.limit - 20
  })
  const whole = 20 * 0.4 + Math.sqrt(20)
  expect(moved.map((each) => Number((each / whole).toFixed(6)))).toEqual(
    [1 / 3, 1 / 2, 4 / 5].map((each) => Number(each.toFixed(6))),
  )
})

test('in a surge, a window moves it all of the way', () => {
  const limits = [9, 10].map((running) => {
    const limit = limitOf()
    requests(limit, 10, 10, 20)
    limit.advance(100, running)
    return limit.limit
  })
  const whole = 20 * 0.4 + Math.sqrt(20)
  expect(limits).toEqual([expect.closeTo(20 + whole / 3, 9), expect.closeTo(20 + whole, 9)])
})

test('the limit does not fall while less than three quarters of it are used', () => {
  const limit = limitOf()
  window(limit, 100, 10, 9)
  window(limit, 200, 10, 9)
  expect([window(limit, 300, 99, 14.9), window(limit, 600, 99, 15)]).toEqual([20, 15.6])
})

test('it stays between its bounds', () => {
  const low = limitOf({ min: 10 })
  for (let i = 1; i < 3; i++) window(low, 100 * i, 1)
  for (let i = 3; i < 50; i++) window(low, 3000 * i, 1000)
  const high = limitOf({ max: 50 })
  for (let i = 1; i < 50; i++) window(high, 100 * i, 10)
  expect([low.limit, high.limit]).toEqual([10, 50])
})

/** Denies a request soon after the start, so that a probe begins. */
function probe(limit: AdaptiveLimit, nowMs: number): void {
  limit.recordDenial(nowMs)
  limit.advance(nowMs, 0)
}

test('a denial soon after the start begins a probe, in which three requests run at once', () => {
  const limit = overloadedLimit()
  probe(limit, 150)
  expect([limit.isProbing, limit.current, limit.limit]).toEqual([true, 3, 20])
  requests(limit, 29, 20, 3)
  limit.advance(200, 0)
  expect(limit.isProbing).toBe(true)
  requests(limit, 1, 20, 3)
  limit.advance(201, 0)
  expect([limit.isProbing, limit.baselineMs('all')]).toEqual([false, 20])
})

test('a probe waits for nine tenths of its requests, also for one that gets no response', () => {
  const limit = overloadedLimit()
  probe(limit, 150)
  const epochs = Array.from({ length: 40 }, () => limit.begin(150))
  for (const epoch of epochs.slice(4)) limit.end('all', 5, epoch, 3)
  limit.advance(1000, 0)
  expect(limit.isProbing).toBe(true)
  limit.end(undefined, 0, epochs[1] as number, 3)
  limit.advance(1010, 0)
  expect([limit.isProbing, limit.baselineMs('all')]).toEqual([false, 5])
})

test('one of the requests of a probe may take much longer than the others', () => {
  const limit = overloadedLimit()
  probe(limit, 150)
  requests(limit, 27, 5, 3)
  for (let i = 0; i < 3; i++) limit.begin(180)
  const probing = [180, 230, 231].map((nowMs) => {
    limit.advance(nowMs, 3)
    return limit.isProbing
  })
  expect([...probing, limit.baselineMs('all')]).toEqual([true, true, false, 5])
})

test('requests from before a probe take its places for a second, or for five latencies; then more may run', () => {
  const places = [
    { firstMs: 10, latencyMs: 20 },
    { firstMs: 10, latencyMs: 400 },
    { firstMs: 100, latencyMs: undefined },
  ].map(({ firstMs, latencyMs }) => {
    const limit = newLimit()
    limit.advance(-1000, 0)
    requests(limit, 30, firstMs)
    limit.advance(0, firstMs > 10 ? 7 : 1)
    if (latencyMs) window(limit, 100, latencyMs)
    const before = [limit.begin(120), limit.begin(120), limit.begin(120)]
    limit.recordDenial(150)
    limit.advance(150, 3)
    return [1149, 1150, 2150].map((nowMs) => {
      limit.advance(nowMs, 3)
      if (nowMs === 1150) limit.end('all', 1, before[0] as number, 3)
      return limit.current
    })
  })
  expect(places).toEqual([
    [3, 6 + 2, 9 + 2],
    [3, 3, 6 + 2],
    [3, 3, 6 + 2],
  ])
})

test('of a large limit, a quarter runs at once in a probe', () => {
  const limit = limitOf({ initial: 400 })
  limit.advance(1000, 0)
  limit.recordDenial(2000)
  limit.recordDenial(3000)
  limit.advance(3000, 0)
  expect(limit.current).toBe(100)
})

test('a limit that fell because requests take longer rises again once a probe has shown it', () => {
  const limits = [20, 30, 80].map((latencyMs) => {
    const limit = fallenLimit()
    const fallen = limit.limit
    laterProbe(limit, latencyMs)
    limit.recordDenial(4500)
    if (latencyMs > 30) laterProbe(limit, latencyMs, 5500) // so much slower has to be confirmed
    return [limit.isProbing, limit.limit / fallen, limit.limit]
  })
  expect(limits).toEqual([
    [false, 2, expect.any(Number)],
    [false, 3, expect.any(Number)],
    [false, expect.any(Number), 100], // as before it fell
  ])
})

test('a fall is undone in the first window that is as fast as without a queue, and has no denial', () => {
  const limits = [
    { latencyMs: 14 },
    { latencyMs: 14, isDenied: true },
    { latencyMs: 15 },
    { latencyMs: 14, loopDelayMs: 40 },
  ].map(({ latencyMs, isDenied = false, loopDelayMs = 0 }) => {
    const limit = fallenLimit()
    limit.recordLoopDelay(loopDelayMs)
    if (isDenied) limit.recordDenial(2060)
    return window(limit, 2100, latencyMs, 1)
  })
  const fallen = Math.round(10 * fallenLimit().limit) / 10
  expect(limits).toEqual([100, fallen, fallen, fallen])
})

test('a fall is not undone once a probe has shown how long requests take', () => {
  const limit = fallenLimit()
  const { limit: fallen } = limit
  laterProbe(limit, 10)
  for (const nowMs of [2500, 2600]) window(limit, nowMs, 10, 1)
  expect(limit.limit).toBe(fallen)
})

test('a limit that was set at the start is not trusted if denials follow at once', () => {
  const limit = overloadedLimit(400)
  const before = limit.limit
  probe(limit, 150)
  expect([before, limit.limit, limit.current]).toEqual([480, 20, 3])
})

test('after a calm second, the first probe waits until denials last', () => {
  const limit = limitOf()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 5000; nowMs += 10) {
    const wasProbing = limit.isProbing
    requests(limit, 1, nowMs < 1500 ? 10 : 20, 3)
    if ((nowMs >= 1500 && nowMs < 2000) || nowMs >= 3000) limit.recordDenial(nowMs)
    limit.advance(nowMs, 3)
    if (limit.isProbing && !wasProbing) probes.push(nowMs)
  }
  expect(probes).toEqual([4000])
})

test('no probe begins while requests are as fast as without a queue: the limit grows', () => {
  const limit = limitOf()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
    requests(limit, 1, nowMs < 5000 ? 10 : 15, 3)
    limit.recordDenial(nowMs)
    limit.advance(nowMs, 3)
    if (limit.isProbing) break
    probes.push(nowMs)
  }
  expect(probes.at(-1)).toBe(5100) // one begins after the first slow window
})

test('a probe begins if only requests end that have no baseline, or none at all', () => {
  const probes = ['new', undefined].map((routeClass) => {
    const limit = overloadedLimit()
    probe(limit, 10)
    requests(limit, 30, 10, 3)
    limit.advance(20, 3)
    let nowMs = 20
    for (; nowMs < 100_000 && !limit.isProbing; nowMs += 10) {
      if (routeClass) limit.end(routeClass, 10, limit.begin(nowMs), 20)
      limit.recordDenial(nowMs)
      limit.advance(nowMs, 20)
    }
    return nowMs
  })
  expect(probes).toEqual([30_030, 30_030])
})

test('one denial begins no probe, however long its window takes because few requests come', () => {
  const limit = limitOf()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 10_000; nowMs += 250) {
    requests(limit, 1, 10, 3)
    if (nowMs === 3500) limit.recordDenial(nowMs)
    limit.advance(nowMs, 0)
    if (limit.isProbing) probes.push(nowMs)
  }
  expect(probes).toEqual([])
})

test('requests that began before a probe count neither for it nor after it', () => {
  const limit = limitOf()
  window(limit, 100, 15)
  const before = limit.begin(0)
  probe(limit, 150)
  const during = Array.from({ length: 31 }, () => limit.begin(0))
  for (let i = 0; i < 1000; i++) limit.end('all', 500, before, 20)
  limit.advance(200, 0)
  expect(limit.isProbing).toBe(true)
  for (const epoch of during.slice(0, 30)) limit.end('all', 10, epoch, 3)
  limit.advance(201, 0)
  expect([limit.isProbing, limit.baselineMs('all')]).toEqual([false, 10])
  const atEnd = limit.limit
  for (let i = 0; i < 1000; i++) limit.end('all', 1, i % 2 === 0 ? before : (during[30] as number), 20)
  limit.advance(400, 0)
  expect([limit.limit, limit.baselineMs('all')]).toEqual([atEnd, 10])
})

test('the next probe needs denials that last for a second, half a minute later', () => {
  const limit = overloadedLimit()
  const probes: number[] = []
  for (let nowMs = 0; nowMs < 100_000; nowMs += 10) {
    const wasProbing = limit.isProbing
    requests(limit, 1, limit.isProbing ? 10 : 20, 3)
    if (nowMs < 20_000 || nowMs > 60_000) limit.recordDenial(nowMs)
    limit.advance(nowMs, 3)
    if (limit.isProbing && !wasProbing) probes.push(nowMs)
  }
  expect(probes).toEqual([0, 61_010, 91_310])
})

test('a probe whose requests do not end is given up, and changes nothing', () => {
  const limit = overloadedLimit()
  probe(limit, 0)
  requests(limit, 26, 99, 3)
  for (let i = 0; i < 4; i++) limit.begin(0)
  const probing = [60_000, 60_001].map((nowMs) => {
    limit.advance(nowMs, 4)
    return limit.isProbing
  })
  expect([...probing, limit.limit, limit.baselineMs('all')]).toEqual([true, false, 20, 10])
})

test('a probe ends if no request has run for a tenth of a second', () => {
  const limit = overloadedLimit()
  probe(limit, 0)
  const steps = [
    { nowMs: 10, running: 1 },
    { nowMs: 20, running: 0 },
    { nowMs: 120, running: 0 },
    { nowMs: 130, running: 1 },
    { nowMs: 5000, running: 0 },
    { nowMs: 5100, running: 0 },
    { nowMs: 5101, running: 0 },
  ]
  const probing = steps.map(({ nowMs, running }) => {
    limit.advance(nowMs, running)
    return limit.isProbing
  })
  expect(probing).toEqual([true, true, true, true, true, true, false])
})

test('a long probe is followed by a longer time without one', () => {
  const limit = overloadedLimit()
  probe(limit, 0)
  limit.advance(60_001, 3) // given up after a minute, so the next is due after 20 minutes
  const probing = [1_260_000, 1_260_020, 1_260_021].map((nowMs) => {
    limit.recordDenial(nowMs - 1000)
    limit.recordDenial(nowMs)
    limit.advance(nowMs, 3)
    return limit.isProbing
  })
  expect(probing).toEqual([false, false, true])
})

test('an event loop that is always late lowers a limit that is used, and a pause does not', () => {
  const limit = limitOf()
  const after = (nowMs: number, delaysMs: readonly number[], running: number) => {
    for (const delayMs of delaysMs) limit.recordLoopDelay(delayMs)
    limit.end(undefined, 1, limit.begin(nowMs), running)
    limit.advance(nowMs, running)
    return limit.limit
  }
  const paused = after(1000, [400, 2], 15)
  const unused = after(2000, [60, 40], 14)
  const late = after(3000, [60, 40], 15)
  expect([paused, unused, late, after(4000, [5000], 15)]).toEqual([20, 20, 15, 7.5])
})

test('a loop that is on time never raises the limit, and the floor holds', () => {
  const limit = limitOf({ initial: 4 })
  limit.recordLoopDelay(0)
  limit.advance(1000, 0)
  expect(limit.limit).toBe(4)
  limit.recordLoopDelay(1000)
  limit.end(undefined, 1, limit.begin(1500), 4)
  limit.advance(2000, 4)
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
      const limit = newLimit()
      let nowMs = 0
      for (const { latencyMs, stepMs, delayMs, isDenied } of steps) {
        nowMs += stepMs
        requests(limit, 12, latencyMs, 20)
        limit.recordLoopDelay(delayMs)
        if (isDenied) limit.recordDenial(nowMs)
        limit.advance(nowMs, 0)
        if (!(limit.limit >= 3 && limit.limit <= 1000)) return false
      }
      return true
    }),
  )
})

test('no probe runs while denials keep nothing out', () => {
  let canProbe = false
  const limit = overloadedLimit(7, { canProbe: () => canProbe })
  const isProbing = () => {
    limit.recordDenial(0)
    limit.advance(0, 0)
    return limit.isProbing
  }
  const before = isProbing()
  canProbe = true
  expect([before, isProbing()]).toEqual([false, true])
})
