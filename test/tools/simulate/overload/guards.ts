import { AdaptiveLimit } from '../../../../src/overload/adaptive-limit.js'
import { FairShares } from '../../../../src/overload/fair-shares.js'
import { GuardCore, type Ticket } from '../../../../src/overload/guard-core.js'
import type { MakeGuard, SimRequest } from './world.js'

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

/** The guard of this package. */
export const overloadGuard: MakeGuard = ({ start, deny }, random, { weights }) => {
  const limit = new AdaptiveLimit({ initial: 20, min: 3, max: 1000, tolerance: 1.4, random })
  const tenants = new FairShares((id) => weights?.get(id) ?? 1)
  const core = new GuardCore({ limit, criticalShare: 0.2, targetWaitMs: 5, burstWaitMs: 100, tenants })
  const tickets = new Map<SimRequest, Ticket>()
  return {
    get limit() {
      return limit.limit
    },
    offer(request, nowMs, arrivedAtMs) {
      const { priority, client, tenantId } = request
      const hash = Math.imul(client + 1, 0x9e3779b1)
      const settle = (isAdmitted: boolean) => (isAdmitted ? start(request) : deny(request))
      const entry = { priority, client: hash, tenantId, settle }
      const { verdict, ticket } = core.offer(entry, nowMs, arrivedAtMs)
      tickets.set(request, ticket)
      if (verdict === 'admitted') start(request)
      else if (verdict === 'denied') deny(request)
      if (verdict === 'denied') tickets.delete(request)
    },
    end(request, _latencyMs, nowMs) {
      const ticket = tickets.get(request) as Ticket
      tickets.delete(request)
      core.end(ticket, nowMs, request.routeClass)
    },
    tick: (nowMs) => core.advance(nowMs),
    turn: (tookMs) => limit.loopDelay(tookMs),
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
