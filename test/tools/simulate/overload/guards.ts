import { LoopWait } from '../../../../src/overload/loop-wait.js'
import { Place } from '../../../../src/overload/place.js'
import { ProcessGuard } from '../../../../src/overload/process-guard.js'
import type { MakeGuard, MakeSimulatedGuard, SimRequest } from './world.js'

/** Admits everything. */
export const noGuard: MakeGuard = ({ start }) => ({ offer: start, end() {} })

/** Admits as many requests at once. */
export const fixedLimit =
  (limit: number): MakeGuard =>
  ({ start, deny }) => {
    let running = 0
    return {
      limit,
      offer(request) {
        if (running >= limit) return deny(request)
        running++
        start(request)
      },
      end() {
        running--
      },
    }
  }

/** The best that a guard could do which knows how long each request has waited. */
export const byWait =
  (maxWaitMs: number): MakeGuard =>
  ({ start, deny }) => ({
    offer: (request, nowMs) => (nowMs - request.bornAtMs > maxWaitMs ? deny(request) : start(request)),
    end() {},
  })

/** Denies while the event loop was late by more than 100 ms in the mean of the last second. */
export const loopDelay: MakeGuard = ({ start, deny }) => {
  let [sumMs, turns, windowAtMs, isLate] = [0, 0, 0, false]
  return {
    offer: (request) => (isLate ? deny(request) : start(request)),
    end() {},
    turn(tookMs, nowMs) {
      sumMs += tookMs
      turns++
      if (nowMs - windowAtMs < 1000) return
      isLate = sumMs / turns > 100
      sumMs = turns = 0
      windowAtMs = nowMs
    },
  }
}

/** The guard of this package, with a clock, timers and an event loop that are simulated. */
export const overloadGuard: MakeSimulatedGuard = ({ start, deny }, random, process, { weights }) => {
  const numbers = {
    minLimit: 3,
    maxLimit: 1000,
    maxWaitMs: 50,
    weightOf: (id: string) => weights?.get(id) ?? 1,
  }
  const { now, startTimer, loop } = process
  const guard = new ProcessGuard(numbers, () => true, { now, startTimer, loop: new LoopWait(loop), random })
  const places = new Map<SimRequest, Place>()

  function settle(request: SimRequest, isAdmitted: boolean): void {
    if (!isAdmitted) places.delete(request)
    if (isAdmitted) start(request)
    else deny(request)
  }

  return {
    get limit() {
      return guard.status().limit
    },
    offer(request) {
      const { priority, client, tenantId } = request
      const place = new Place(priority, tenantId)
      place.client = Math.imul(client + 1, 0x9e3779b1)
      place.onSettled = (isAdmitted) => settle(request, isAdmitted)
      places.set(request, place)
      const verdict = guard.offerRequest(place)
      if (verdict !== 'waiting') settle(request, verdict === 'admitted')
    },
    end(request) {
      guard.end(places.get(request) as Place, request.routeClass, true)
      places.delete(request)
    },
  }
}

/** Envoy's adaptive concurrency filter with the numbers of the example in its documentation. */
export const envoyGradient: MakeGuard = ({ start, deny }, random) => {
  let [running, limit, epoch, windowAtMs, minRttMs, probeAtMs] = [0, 3, 0, 0, 0, 0]
  let isProbing = true
  let samples: number[] = []
  const epochs = new Map<SimRequest, number>()
  const p90 = () => samples.sort((a, b) => a - b)[Math.floor(samples.length * 0.9)] as number

  function advance(nowMs: number): void {
    if (isProbing) {
      if (samples.length < 50) return
      minRttMs = p90()
      isProbing = false
      probeAtMs = nowMs + 60_000 * (1 + 0.1 * random())
    } else if (nowMs >= probeAtMs) {
      isProbing = true
      epoch++
    } else {
      if (nowMs - windowAtMs < 100) return
      if (samples.length > 0) {
        const gradient = Math.min(2, Math.max(0.5, (minRttMs * 1.25) / p90()))
        const next = limit * gradient
        limit = Math.min(1000, Math.max(3, next + Math.sqrt(next)))
      }
    }
    windowAtMs = nowMs
    samples = []
  }

  return {
    get limit() {
      return limit
    },
    offer(request, nowMs) {
      advance(nowMs)
      if (running >= (isProbing ? 3 : limit)) return deny(request)
      running++
      epochs.set(request, epoch)
      start(request)
    },
    end(request, latencyMs, nowMs) {
      running--
      if (epochs.get(request) === epoch) samples.push(latencyMs)
      epochs.delete(request)
      advance(nowMs)
    },
  }
}

/** Netflix' Gradient2, from its documentation, with its largest limit. */
export const gradient2: MakeGuard = ({ start, deny }) => {
  let [running, limit, peak, sum, count, windowAtMs, long, windows] = [0, 20, 0, 0, 0, 0, 0, 0]

  function update(): void {
    const short = sum / count
    windows++
    long = windows <= 10 ? long + (short - long) / windows : long + (short - long) * (2 / 601)
    if (long / short > 2) long *= 0.95
    if (peak < limit / 2) return
    const gradient = Math.min(1, Math.max(0.5, (1.5 * long) / short))
    limit = Math.min(512, Math.max(20, limit * 0.8 + (limit * gradient + 4) * 0.2))
  }

  return {
    get limit() {
      return limit
    },
    offer(request) {
      if (running >= limit) return deny(request)
      running++
      start(request)
    },
    end(_request, latencyMs, nowMs) {
      peak = Math.max(peak, running)
      running--
      sum += latencyMs
      count++
      if (nowMs - windowAtMs < 1000 || count < 10) return
      update()
      peak = sum = count = 0
      windowAtMs = nowMs
    },
  }
}
