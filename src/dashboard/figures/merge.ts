import type { CandidateLimitReport, CandidateReport } from '../../limiter/candidate-report.js'
import { worstState } from '../../resilience/circuit-breaker.js'
import { groupBy } from '../../util/group-by.js'
import { addCalls } from './latency.js'
import { nearestFirst } from './near-clients.js'
import {
  type DeniedClient,
  type LimiterReport,
  type LimitReport,
  MAX_LISTED,
  type StoreReport,
  type TrafficReport,
} from './report.js'

/** Adds up what processes report of one limiter; the first report is that of this process. */
export function mergeReports(reports: readonly [LimiterReport, ...LimiterReport[]]): LimiterReport {
  const [own] = reports
  if (reports.length === 1) return own
  const candidates = reports.flatMap(({ candidate }) => (candidate === undefined ? [] : [candidate]))
  return {
    name: own.name,
    mode: own.mode,
    traffic: reports.map(({ traffic }) => traffic).reduce(addTraffic),
    limits: mergeLimits(reports.flatMap(({ limits }) => limits)),
    near: oneOfEach(nearestFirst(reports.flatMap(({ near }) => near))).slice(0, MAX_LISTED),
    denied: mergeDenied(reports.flatMap(({ denied }) => denied)),
    store: reports.map(({ store }) => store).reduce(mergeStores),
    ...(candidates.length > 0 && { candidate: candidates.reduce(mergeCandidates) }),
  }
}

/** Adds traffic up slot by slot, for the slots of the first report. */
export function addTraffic(a: TrafficReport, b: TrafficReport): TrafficReport {
  const shift = a.lastSlot - b.lastSlot
  const add = (own: readonly number[], other: readonly number[]) =>
    own.map((count, i) => count + (other[i + shift] ?? 0))
  return { lastSlot: a.lastSlot, allowed: add(a.allowed, b.allowed), denied: add(a.denied, b.denied) }
}

function mergeLimits(limits: readonly LimitReport[]): LimitReport[] {
  const same = groupBy(limits, ({ name, limit, windowMs }) => `${name} ${limit} ${windowMs}`)
  return Array.from(same.values(), (each) =>
    each.reduce((a, b) => {
      const { name, limit, windowMs } = a
      const [allowed, denied] = [a.allowed + b.allowed, a.denied + b.denied]
      return {
        name,
        kind: a.kind || b.kind,
        limit,
        windowMs,
        allowed,
        denied,
        peak: Math.max(a.peak, b.peak),
      }
    }),
  )
}

/** Returns the first client of each limit and identity. */
function oneOfEach<C extends Pick<DeniedClient, 'limitName' | 'identity'>>(clients: readonly C[]): C[] {
  const same = groupBy(clients, clientKey)
  return Array.from(same.values(), ([first]) => first as C)
}

function mergeDenied(clients: readonly DeniedClient[]): DeniedClient[] {
  return addDenied(clients, clientKey).slice(0, MAX_LISTED)
}

/** Adds up how often the same client was denied. The most often denied comes first. */
function addDenied<C extends { readonly denied: number }>(
  clients: readonly C[],
  keyOf: (client: C) => string,
): C[] {
  const sums = Array.from(groupBy(clients, keyOf).values(), (each) => {
    return { ...(each[0] as C), denied: each.reduce((sum, { denied }) => sum + denied, 0) }
  })
  return sums.sort((a, b) => b.denied - a.denied)
}

/** Returns the calls of both, and the worse state. */
function mergeStores(a: StoreReport, b: StoreReport): StoreReport {
  return { ...a, state: worstState([a.state, b.state]), ...addCalls(a, b) }
}

/** Adds up what candidates would have done. A client that sends to several processes counts once for each. */
function mergeCandidates(a: CandidateReport, b: CandidateReport): CandidateReport {
  const limits = groupBy([...a.limits, ...b.limits], ({ name }) => name)
  return {
    sinceMs: Math.min(a.sinceMs, b.sinceMs),
    requests: a.requests + b.requests,
    clients: a.clients + b.clients,
    denied: a.denied + b.denied,
    deniedClients: a.deniedClients + b.deniedClients,
    newlyDenied: a.newlyDenied + b.newlyDenied,
    newlyAllowed: a.newlyAllowed + b.newlyAllowed,
    failed: a.failed + b.failed,
    limits: Array.from(limits.values(), (each) => each.reduce(mergeCandidateLimits)),
  }
}

/** Adds up what a candidate's limit denied; a client that several processes know counts once, as far as listed. */
function mergeCandidateLimits(a: CandidateLimitReport, b: CandidateLimitReport): CandidateLimitReport {
  const mostDenied = addDenied([...a.mostDenied, ...b.mostDenied], ({ identity }) => identity)
  const shared = a.mostDenied.length + b.mostDenied.length - mostDenied.length
  return {
    name: a.name,
    denied: a.denied + b.denied,
    excessUnits: a.excessUnits + b.excessUnits,
    deniedClients: a.deniedClients + b.deniedClients - shared,
    mostDenied: mostDenied.slice(0, 10),
  }
}

function clientKey({ limitName, identity }: Pick<DeniedClient, 'limitName' | 'identity'>): string {
  return `${limitName} ${identity}`
}
