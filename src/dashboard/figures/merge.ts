import type {
  CandidateClients,
  CandidateLimitReport,
  CandidateReport,
} from '../../limiter/candidate/candidate-report.js'
import { worstState } from '../../pipe/breaker-state.js'
import { distinctCount, mergeHashes } from '../../util/distinct-names.js'
import { mergeSamples } from '../../util/distinct-sample.js'
import { groupBy } from '../../util/group-by.js'
import { listMemo } from '../../util/memo.js'
import { sumCounts } from './counts.js'
import { mergeDenials } from './denials.js'
import { CLIENT_ADDRESSES, CLIENT_NETWORKS, CLIENT_ROUTES } from './denied-client.js'
import { addCalls } from './latency.js'
import { nearestFirst } from './near-clients.js'
import { mergeOutages } from './outage.js'
import {
  type DeniedRow,
  type LimiterReport,
  type LimitRow,
  MAX_BLOCKED,
  MAX_NEAR,
  type PastSlots,
  type StoreReport,
  type TrafficReport,
} from './report.js'
import { joinRuns, RUN_GAP_MS } from './run.js'
import { allSlots } from './traffic.js'

/** The most denied clients of all processes together. */
const MAX_DENIED = 1000

type Reports = readonly [LimiterReport, ...LimiterReport[]]

/** Adds up what processes report of one limiter; the first report is that of this process. */
export function mergeReports(reports: Reports): LimiterReport {
  if (reports.length === 1) return reports[0]
  const allNear = reports.flatMap((report) => report.near)
  const near = oneOfEach(nearestFirst(allNear, allNear.length)).slice(0, MAX_NEAR)
  return { ...mergeBriefly(reports, MAX_DENIED), near, ...mergeAllCandidates(reports) }
}

/**
 * Adds up what findings are made from: of each report, at most `most` denied clients, besides those that may be blocked,
 * and no candidate.
 */
export function mergeBriefly(reports: Reports, most: number): LimiterReport {
  const [own] = reports
  const run = joinRuns(reports.flatMap((report) => report.run ?? []))
  const blocked = joinRuns(reports.flatMap((report) => report.blocked ?? []))
  const ofRun = reports.filter((report) => run && report.run && report.run.lastMs + RUN_GAP_MS >= run.sinceMs)
  const unknown = ofRun.filter(({ denials }) => denials.denied === 0)
  const unknownPerMinute = unknown.reduce((sum, report) => sum + (report.run?.perMinute ?? 0), 0)
  const [first = own, ...rest] = ofRun // others denied before the run, or not at all
  return {
    name: own.name,
    mode: own.mode,
    sinceMs: Math.min(...reports.map(({ sinceMs }) => sinceMs)),
    traffic: addTraffic([own.traffic, ...reports.slice(1).map(({ traffic }) => traffic)]),
    limits: mergeLimits(reports.flatMap(({ limits }) => limits)),
    near: [],
    ...(run && { run }),
    ...(unknownPerMinute > 0 && { unknownPerMinute }),
    ...(blocked && { blocked }),
    denials: mergeDenials([first.denials, ...rest.map(({ denials }) => denials)]),
    denied: mergeDenied(
      reports.flatMap(({ denied }) => denied.slice(0, blocked ? most + MAX_BLOCKED : most)),
    ),
    store: reports.map(({ store }) => store).reduce(mergeStores),
  }
}

/** Adds traffic up slot by slot, for the slots of the first report. */
function addTraffic([own, ...others]: readonly [TrafficReport, ...TrafficReport[]]): TrafficReport {
  const { lastSlot } = own
  const inStep = others.filter((each) => each.lastSlot === lastSlot)
  const sum = (countOf: (traffic: TrafficReport) => number, all = others) =>
    all.reduce((total, each) => total + countOf(each), countOf(own))
  const perSecond = {
    allowed: sum((each) => each.perSecond.allowed),
    denied: sum((each) => each.perSecond.denied),
  }
  const traffic = {
    lastSlot,
    allowed: sum((each) => each.allowed, inStep),
    denied: sum((each) => each.denied, inStep),
    past: addPast([own.past, ...inStep.map(({ past }) => past)]),
    perSecond,
  }
  const outOfStep = others.filter((each) => each.lastSlot !== lastSlot)
  return outOfStep.length === 0 ? traffic : withShifted(traffic, outOfStep)
}

/** Adds up the slots that are over. All processes are mostly in the same slot, so the sum is made once in ten seconds. */
const addPast = listMemo<PastSlots, PastSlots>(([first, ...others]) => {
  if (others.length === 0) return first
  const [allowed, denied] = [[...first.allowed], [...first.denied]]
  for (const past of others) {
    addShifted(allowed, past.allowed, 0)
    addShifted(denied, past.denied, 0)
  }
  return { allowed, denied }
})

/** Adds traffic whose last slot is another, as of a process that has ended. */
function withShifted(traffic: TrafficReport, others: readonly TrafficReport[]): TrafficReport {
  const { allowed, denied } = allSlots(traffic)
  for (const other of others) {
    const slots = allSlots(other)
    addShifted(allowed, slots.allowed, traffic.lastSlot - other.lastSlot)
    addShifted(denied, slots.denied, traffic.lastSlot - other.lastSlot)
  }
  const last = { allowed: allowed.pop() ?? 0, denied: denied.pop() ?? 0 }
  return { ...traffic, ...last, past: { allowed, denied } }
}

function addShifted(sums: number[], counts: readonly number[], shift: number): void {
  for (let i = Math.max(0, -shift); i < sums.length && i + shift < counts.length; i++)
    sums[i] = (sums[i] ?? 0) + (counts[i + shift] ?? 0)
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

/** Adds up what is known of the same clients. The one denied most comes first. */
function mergeDenied([first, ...others]: readonly DeniedRow[]): readonly DeniedRow[] {
  return first === undefined ? [] : mergeClients([first, ...others])
}

const mergeClients = listMemo<DeniedRow, readonly DeniedRow[]>((clients) => {
  const merged = Array.from(groupBy(clients, clientKey).values(), mergeClient)
  return merged.sort((a, b) => b.denied - a.denied).slice(0, MAX_DENIED)
})

function mergeClient(same: readonly [DeniedRow, ...DeniedRow[]]): DeniedRow {
  const [first] = same
  if (same.length === 1) return first
  const sum = (countOf: (client: DeniedRow) => number) =>
    same.reduce((total, client) => total + countOf(client), 0)
  return {
    ...first,
    denied: sum(({ denied }) => denied),
    perSecond: sum(({ perSecond }) => perSecond),
    firstMs: Math.min(...same.map(({ firstMs }) => firstMs)),
    lastMs: Math.max(...same.map(({ lastMs }) => lastMs)),
    routes: sumCounts(same.map(({ routes }) => routes)).slice(0, CLIENT_ROUTES),
    networks: sumCounts(same.map(({ networks }) => networks)).slice(0, CLIENT_NETWORKS),
    addresses: mergeSamples(
      same.map(({ addresses }) => addresses),
      CLIENT_ADDRESSES,
    ),
  }
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

/** Adds the outages that others saw when they were read last to a report without them. */
export function withOutages(report: LimiterReport, others: readonly LimiterReport[]): LimiterReport {
  const [first, ...rest] = [report, ...others].flatMap(({ store }) => store.outage ?? [])
  if (first === undefined) return report
  return { ...report, store: { ...report.store, outage: rest.reduce(mergeOutages, first) } }
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
