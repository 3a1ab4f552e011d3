import { PRIORITIES } from '../../../../src/overload/cohorts.js'
import type { Random } from '../random.js'
import { drawPriority, retryAtOnce, retryWithBackoff } from './clients.js'
import type { OverloadScenario, SimRequest } from './world.js'

const WORKERS = 8
const SERVICE_MS = 10
const PATIENCE_MS = 100
/** What the backend can do, in requests a millisecond. */
const CAPACITY = WORKERS / SERVICE_MS
const MINUTE = 60_000

const drawn = (meanMs: number, random: Random) => -Math.log(1 - random()) * meanMs

/** Requests at so many times the capacity. */
function load(times: number, durationMs = MINUTE, changes: Partial<OverloadScenario> = {}): OverloadScenario {
  return {
    durationMs,
    maxRate: times * CAPACITY,
    workersAt: () => WORKERS,
    serviceMs: (_request, _nowMs, random) => drawn(SERVICE_MS, random),
    patienceMs: PATIENCE_MS,
    ...changes,
  }
}

const isHalved = (nowMs: number) => nowMs >= MINUTE / 2 && nowMs < MINUTE

/** Requests that take this long on average, of clients that wait ten times as long. */
const ofService = (meanMs: number) => ({
  serviceMs: (_request: SimRequest, _nowMs: number, random: Random) => drawn(meanMs, random),
  patienceMs: 10 * meanMs,
})

/** A tenth of the requests take fifty times as long. */
const MIXED = {
  makeRequest: (_nowMs: number, random: Random) => ({ routeClass: random() < 0.1 ? 'report' : 'read' }),
  serviceMs: ({ routeClass }: SimRequest, _nowMs: number, random: Random) =>
    drawn(routeClass === 'report' ? 50 : 1, random),
  patienceMs: 200,
}
const MIXED_CAPACITY = WORKERS / 5.9

const classes = (_nowMs: number, random: Random) => ({ priority: PRIORITIES.indexOf(drawPriority(random)) })

/** The client that floods in a scenario. */
export const FLOOD = 1_000_000

/** Fifty clients send half of what the backend can do, and one sends twice as much as it can. */
const floodingClient = (_nowMs: number, random: Random) => ({
  client: random() < 0.8 ? FLOOD : Math.floor(random() * 50),
})

const TENANTS = 100
const EQUAL = new Map(Array.from({ length: TENANTS }, (_, i) => [`tenant ${i}`, 1]))

/** Four tenants that send alike, each more than its share, and have different weights. */
const WEIGHTS = new Map([1, 2, 3, 4].map((weight) => [`tenant ${weight}`, weight]))

/** One tenant of a hundred sends as much as a hundred others, after ten calm seconds. */
function unequalTenants(nowMs: number, random: Random): Partial<SimRequest> {
  const isHeavy = nowMs > 10_000 && random() < 100 / (TENANTS - 1 + 100)
  return { tenantId: isHeavy ? 'tenant 99' : `tenant ${Math.floor(random() * (TENANTS - 1))}` }
}

/** Half of the requests invent a tenant, after ten calm seconds. */
const inventedTenants = (invent: (nowMs: number, random: Random) => number) => ({
  makeRequest(nowMs: number, random: Random): Partial<SimRequest> {
    const isInvented = nowMs > 10_000 && random() < 0.5
    if (isInvented) return { tenantId: `invented ${Math.floor(invent(nowMs, random))}` }
    return { tenantId: `tenant ${Math.floor(random() * TENANTS)}` }
  },
  rateAt: (nowMs: number) => (nowMs > 10_000 ? 1.4 : 0.7) * CAPACITY,
  weights: EQUAL,
})

/** A process that takes 5 ms of its own for each request, in turns of its event loop. */
const OWN_CPU: Partial<OverloadScenario> = {
  isOwnCpu: true,
  workersAt: () => 1,
  serviceMs: () => 5,
  patienceMs: 200,
}

/** A server that is never full, with so many requests a second. They take an exponential time with this mean. */
const healthy = (
  meanMs: number,
  perSecond: number,
  durationMs = 5 * MINUTE,
  changes: Partial<OverloadScenario> = {},
): OverloadScenario => ({
  durationMs,
  maxRate: perSecond / 1000,
  workersAt: () => 1_000_000,
  serviceMs: (_request, _nowMs, random) => drawn(meanMs, random),
  patienceMs: Number.POSITIVE_INFINITY,
  rightLimit: 1_000_000,
  ...changes,
})

/** Servers with many requests at once that are never full, from a cold start. Nothing is to be denied. */
const HEALTHY: Readonly<Record<string, OverloadScenario>> = {
  'healthy, 200 ms, 1000 a second': healthy(200, 1000, 2 * MINUTE),
  'healthy, 100 ms, 400 a second': healthy(100, 400),
  'healthy, 2 s, 50 a second': healthy(2000, 50, 30 * MINUTE),
  'healthy, 100 ms, bursts of 30': healthy(100, 1500, 5 * MINUTE, {
    rateAt: (nowMs) => (nowMs % 10_000 < 20 ? 1500 : 5) / 1000,
  }),
}

/** The scenarios in which nothing is to be denied. */
export const CALM: readonly string[] = [
  ...Object.keys(HEALTHY),
  '0.7 times, 10 min',
  '0.7 times, own CPU',
  '1 request a second',
]

/** The scenarios, by what the report calls them. */
export const SCENARIOS: Readonly<Record<string, OverloadScenario>> = {
  '0.7 times, 10 min': load(0.7, 10 * MINUTE),
  '1.2 times': load(1.2),
  '2 times': load(2),
  '5 times': load(5),
  '10 times': load(10),
  '0.5 to 3 times': load(3, 2 * MINUTE, {
    rateAt: (nowMs) => (0.5 + (2.5 * nowMs) / (2 * MINUTE)) * CAPACITY,
  }),
  'half the workers at 1.2': load(1.2, 1.5 * MINUTE, {
    workersAt: (nowMs) => (isHalved(nowMs) ? WORKERS / 2 : WORKERS),
    endsAtMs: MINUTE,
  }),
  'twice the time at 1.2': load(1.2, 1.5 * MINUTE, {
    serviceMs: (_request, nowMs, random) => drawn(isHalved(nowMs) ? 2 * SERVICE_MS : SERVICE_MS, random),
    endsAtMs: MINUTE,
  }),
  '2 times, always 10 ms': load(2, MINUTE, { serviceMs: () => SERVICE_MS }),
  '2 times, 1 ms': load(2, MINUTE, {
    maxRate: 2 * WORKERS,
    serviceMs: (_request, _nowMs, random) => drawn(1, random),
    patienceMs: 20,
  }),
  '2 times, 1 and 50 ms': load(2, MINUTE, { ...MIXED, maxRate: 2 * MIXED_CAPACITY }),
  '0.7 times, 1 and 50 ms, 10 min': load(0.7, 10 * MINUTE, { ...MIXED, maxRate: 0.7 * MIXED_CAPACITY }),
  '2 times, 30 min': load(2, 30 * MINUTE),
  '2 times, and it ends': load(2, 1.5 * MINUTE, {
    rateAt: (nowMs) => (nowMs < MINUTE ? 2 : 0.5) * CAPACITY,
    endsAtMs: MINUTE,
  }),
  'a service that gets faster': load(2, MINUTE, {
    serviceMs: (_request, nowMs, random) => drawn(nowMs < MINUTE / 2 ? SERVICE_MS : SERVICE_MS / 2, random),
    endsAtMs: MINUTE / 2,
  }),
  '1.2 times, 100 ms': load(1.2, MINUTE, { ...ofService(100), maxRate: (1.2 * WORKERS) / 100 }),
  '2 times, 500 ms': load(2, 3 * MINUTE, { ...ofService(500), maxRate: (2 * WORKERS) / 500 }),
  'a stall of 10 s': load(1.3, 1.5 * MINUTE, {
    ...{ ...ofService(100), maxRate: (1.3 * WORKERS) / 100 },
    rateAt: (nowMs) => ((nowMs < 20_000 ? 0.8 : 1.3) * WORKERS) / 100,
    workersAt: (nowMs) => (nowMs >= 20_000 && nowMs < 30_000 ? 0 : WORKERS),
    endsAtMs: 30_000,
  }),
  '2 times, 2 s': load(2, 10 * MINUTE, {
    maxRate: (2 * WORKERS) / 2000,
    serviceMs: (_request, _nowMs, random) => drawn(2000, random),
    patienceMs: 20_000,
  }),
  '1 request a second': load(1, 10 * MINUTE, { maxRate: 1 / 1000 }),
  '0.7 times, own CPU': load(1, 2 * MINUTE, { ...OWN_CPU, maxRate: 0.7 / 5 }),
  '3 times, own CPU': load(1, MINUTE, { ...OWN_CPU, maxRate: 3 / 5 }),
  'a herd after a pause': load(10, MINUTE / 2, {
    rateAt: (nowMs) =>
      (nowMs >= 15_000 && nowMs < 16_000 ? 10 : nowMs >= 10_000 && nowMs < 15_000 ? 0 : 0.5) * CAPACITY,
    endsAtMs: 16_000,
  }),
  'retries at once': load(1.5, MINUTE, { retryAfterMs: ({ attempt }) => retryAtOnce(attempt) }),
  'retries with backoff': load(1.5, MINUTE, {
    retryAfterMs: ({ attempt }, random) => retryWithBackoff(attempt, random),
  }),
  'classes at 5 times': load(5, MINUTE, { makeRequest: classes }),
  'a client that floods': load(2.5, MINUTE, { makeRequest: floodingClient }),
  'little traffic after an overload': load(2, MINUTE, {
    rateAt: (nowMs) => (nowMs < 10_000 ? 2 * CAPACITY : 1 / 1000),
    endsAtMs: 10_000,
  }),
  'a heavy tenant': load(1.41, MINUTE, {
    makeRequest: unequalTenants,
    rateAt: (nowMs) => (nowMs > 10_000 ? 1.41 : 0.7) * CAPACITY,
    weights: EQUAL,
  }),
  '10,000 invented tenants': load(
    1.4,
    MINUTE,
    inventedTenants((_nowMs, random) => random() * 10_000),
  ),
  '50 more each second': load(
    1.4,
    MINUTE,
    inventedTenants((nowMs, random) => 50 * Math.floor(nowMs / 1000) + random() * 50),
  ),
  '200 that stay': load(
    1.4,
    MINUTE,
    inventedTenants((_nowMs, random) => random() * 200),
  ),
  'weights 1 to 4': load(2, MINUTE, {
    makeRequest: (_nowMs, random) => ({ tenantId: `tenant ${1 + Math.floor(random() * 4)}` }),
    weights: WEIGHTS,
  }),
  'garbage collection and a report': load(0.7, 2 * MINUTE, {
    // each collection stops all work for 50 ms every 2 s, and a report takes half of the workers for 10 s
    workersAt: (nowMs) => (nowMs % 2000 < 50 ? 0 : nowMs >= 50_000 && nowMs < 60_000 ? WORKERS / 2 : WORKERS),
    patienceMs: 200,
    endsAtMs: MINUTE,
  }),
  ...HEALTHY,
  // more requests may run than the limit of the start expects
  'healthy, 10 s, 5 a second': healthy(10_000, 5, 30 * MINUTE),
  // a jump looks like an overload until the first of its requests have ended
  'healthy, 200 ms, from 50 to 500 a second': healthy(200, 500, 2 * MINUTE, {
    rateAt: (nowMs) => (nowMs < MINUTE / 2 ? 50 : 500) / 1000,
  }),
}
