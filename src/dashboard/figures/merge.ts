import type {
  CandidateClients,
  CandidateLimitReport,
  CandidateReport,
} from '../../limiter/candidate/candidate-report.js'
import { worstState } from '../../pipe/breaker-state.js'
import { distinctCount, mergeHashes } from '../../util/distinct-names.js'
import { groupBy } from '../../util/group-by.js'
import { addCalls } from './latency.js'
import { nearestFirst } from './near-clients.js'
import { mergeOutages } from './outage.js'
import {
  type DeniedRow,
  type LimiterReport,
  type LimitRow,
  MAX_LISTED,
  type StoreReport,
  type TrafficReport,
} from './report.js'

/** Adds up what processes report of one limiter; the first report is that of this process. */
export function mergeReports(reports: readonly [LimiterReport, ...LimiterReport[]]): LimiterReport {
  const [own] = reports
  if (reports.length === 1) return own
  return {
    name: own.name,
    mode: own.mode,
    traffic: reports.map(({ traffic }) => traffic).reduce(addTraffic),
    limits: mergeLimits(reports.flatMap(({ limits }) => limits)),
    near: oneOfEach(nearestFirst(reports.flatMap(({ near }) => near))).slice(0, MAX_LISTED),
    denied: mergeDenied(reports.flatMap(({ denied }) => denied)),
    store: reports.map(({ store }) => store).reduce(mergeStores),
    ...mergeAllCandidates(reports),
  }
}

/** Adds traffic up slot by slot, for the slots of the first report. */
function addTraffic(a: TrafficReport, b: TrafficReport): TrafficReport {
  const shift = a.lastSlot - b.lastSlot
  const add = (own: readonly number[], other: readonly number[]) =>
    own.map((count, i) => count + (other[i + shift] ?? 0))
  return {
    lastSlot: a.lastSlot,
    allowed: add(a.allowed, b.allowed),
    denied: add(a.denied, b.denied),
    perSecond: {
      allowed: a.perSecond.allowed + b.perSecond.allowed,
      denied: a.perSecond.denied + b.perSecond.denied,
    },
  }
}

function mergeLimits(limits: readonly LimitRow[]): LimitRow[] {
  const same = groupBy(
    limits,
    ({ name, limit, windowMs, isLocal }) => `${name} ${limit} ${windowMs} ${isLocal}`,
  )
  return Array.from(same.values(), (each) => each.reduce(addLimits))
}

function addLimits(a: LimitRow, b: LimitRow): LimitRow {
  return {
    ...a,
    kind: a.kind || b.kind,
    allowed: a.allowed + b.allowed,
    denied: a.denied + b.denied,
    peak: Math.max(a.peak, b.peak),
  }
}

/** Returns the first client of each limit and identity. */
function oneOfEach<C extends Pick<DeniedRow, 'limitName' | 'identity'>>(clients: readonly C[]): C[] {
  const same = groupBy(clients, clientKey)
  return Array.from(same.values(), ([first]) => first)
}

function mergeDenied(clients: readonly DeniedRow[]): DeniedRow[] {
  return addDenied(clients, clientKey).slice(0, MAX_LISTED)
}

/** Adds up how often the same client was denied. The most often denied comes first. */
function addDenied<C extends { readonly denied: number }>(
  clients: readonly C[],
  keyOf: (client: C) => string,
): C[] {
  const sums = Array.from(groupBy(clients, keyOf).values(), (each) => {
    return { ...each[0], denied: each.reduce((sum, { denied }) => sum + denied, 0) }
  })
  return sums.sort((a, b) => b.denied - a.denied)
}

/** Returns the calls of both, the worse state, and an outage that one of them sees. */
function mergeStores(a: StoreReport, b: StoreReport): StoreReport {
  const outage = a.outage && b.outage ? mergeOutages(a.outage, b.outage) : (a.outage ?? b.outage)
  return { ...a, state: worstState([a.state, b.state]), ...addCalls(a, b), ...(outage && { outage }) }
}

/** What a process reports of a candidate: its figures, and the clients that they count. */
interface CandidateCounts {
  readonly candidate: CandidateReport
  readonly candidateClients: CandidateClients
}

/** Adds up what the candidates of processes would have done; nothing if no process has one. */
function mergeAllCandidates(reports: readonly LimiterReport[]): Partial<CandidateCounts> {
  const figures = reports.flatMap(({ candidate, candidateClients }) =>
    candidate === undefined || candidateClients === undefined ? [] : [{ candidate, candidateClients }],
  )
  return figures.length === 0 ? {} : figures.reduce(mergeCandidates)
}

/** Adds up what candidates would have done. A client that sends to several processes counts once. */
function mergeCandidates(a: CandidateCounts, b: CandidateCounts): CandidateCounts {
  const clients = mergeHashes(a.candidateClients.clients, b.candidateClients.clients)
  const deniedClients = mergeHashes(a.candidateClients.deniedClients, b.candidateClients.deniedClients)
  const limits = Array.from(groupBy([...limitsOf(a), ...limitsOf(b)], ({ name }) => name).values(), (each) =>
    each.reduce(mergeCandidateLimits),
  )
  return {
    candidate: {
      sinceMs: Math.min(a.candidate.sinceMs, b.candidate.sinceMs),
      requests: a.candidate.requests + b.candidate.requests,
      clients: distinctCount(clients),
      denied: a.candidate.denied + b.candidate.denied,
      deniedClients: distinctCount(deniedClients),
      newlyDenied: a.candidate.newlyDenied + b.candidate.newlyDenied,
      newlyAllowed: a.candidate.newlyAllowed + b.candidate.newlyAllowed,
      failed: a.candidate.failed + b.candidate.failed,
      limits: limits.map(({ clients, ...limit }) => limit),
    },
    candidateClients: { clients, deniedClients, limits: limits.map(({ clients }) => clients) },
  }
}

/** A limit of a candidate, with hashes of the clients that it would have denied. */
interface CandidateLimitFigures extends CandidateLimitReport {
  readonly clients: readonly number[]
}

function limitsOf({ candidate, candidateClients }: CandidateCounts): readonly CandidateLimitFigures[] {
  return candidate.limits.map((limit, i) => ({ ...limit, clients: candidateClients.limits[i] ?? [] }))
}

function mergeCandidateLimits(a: CandidateLimitFigures, b: CandidateLimitFigures): CandidateLimitFigures {
  const clients = mergeHashes(a.clients, b.clients)
  const mostDenied = addDenied([...a.mostDenied, ...b.mostDenied], ({ identity }) => identity)
  return {
    name: a.name,
    denied: a.denied + b.denied,
    excessUnits: a.excessUnits + b.excessUnits,
    deniedClients: distinctCount(clients),
    mostDenied: mostDenied.slice(0, 10),
    clients,
  }
}

function clientKey({ limitName, identity }: Pick<DeniedRow, 'limitName' | 'identity'>): string {
  return `${limitName} ${identity}`
}
