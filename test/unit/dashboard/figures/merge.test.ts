import { candidateLimits, createLimiter, fixedWindow } from 'headgate'
import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import type { LimiterReport, LimitRow } from '../../../../src/dashboard/figures/report.js'
import type { CandidateClients, CandidateReport } from '../../../../src/limiter/candidate/candidate-report.js'
import { inspectionOf } from '../../../../src/limiter/inspection.js'
import { NO_NAMES } from '../../../../src/util/distinct-sample.js'
import { deniedRow, reportOf, trafficOf } from './reports.js'

const limit: LimitRow = {
  name: 'api',
  kind: 'fixed-window',
  limit: 10,
  windowMs: 60_000,
  isLocal: false,
  allowed: 0,
  denied: 0,
  peak: 0,
}
const { store } = reportOf()

test('a report alone stays as it is', () => {
  const own = reportOf({ limits: [limit] })
  expect(mergeReports([own])).toBe(own)
})

test('traffic is added up by the time of its slots, for the slots of this process', () => {
  const { traffic } = mergeReports([
    reportOf({ traffic: trafficOf(100, [1, 2, 3], [0, 0, 1]) }),
    reportOf({ traffic: trafficOf(99, [10, 20], [5, 0]) }),
    reportOf({ traffic: trafficOf(101, [100, 200]) }),
    reportOf({ traffic: trafficOf(5000, [1000]) }),
  ])
  expect(traffic).toEqual(trafficOf(100, [11, 22, 103], [5, 0, 1]))
})

test('the requests a second of processes are added up, though they report at different times', () => {
  const at = (lastSlot: number, allowed: number, denied: number) =>
    reportOf({ traffic: { ...trafficOf(lastSlot, []), perSecond: { allowed, denied } } })
  const { traffic } = mergeReports([at(100, 1.5, 0.5), at(98, 10, 2)])
  expect(traffic.perSecond).toEqual({ allowed: 11.5, denied: 2.5 })
})

test('a limit is one of the same name, size and window, and one of the fallback store is another', () => {
  const { limits } = mergeReports([
    reportOf({ limits: [{ ...limit, kind: '', allowed: 1, denied: 2, peak: 0.5 }] }),
    reportOf({ limits: [{ ...limit, allowed: 10, denied: 20, peak: 0.75 }] }),
    reportOf({ limits: [{ ...limit, limit: 20, allowed: 100 }] }),
    reportOf({ limits: [{ ...limit, isLocal: true, allowed: 1000 }] }),
  ])
  expect(limits).toEqual([
    { ...limit, allowed: 11, denied: 22, peak: 0.75 },
    { ...limit, limit: 20, allowed: 100 },
    { ...limit, isLocal: true, allowed: 1000 },
  ])
})

test('a client is near a limit as the process says that knows it nearest', () => {
  const near = (identity: string, remaining: number) => ({
    limitName: 'api',
    identity,
    limit: 10,
    remaining,
    isLocal: false,
  })
  const merged = mergeReports([
    reportOf({ near: [near('ada', 2), near('bob', 1)] }),
    reportOf({ near: [near('ada', 0)] }),
  ])
  expect(merged.near).toEqual([near('ada', 0), near('bob', 1)])
})

test('denials of a client are added up for each limit, with what is known of it, and 1,000 clients are listed', () => {
  const addresses = (...hashes: number[]) => ({ below: NO_NAMES.below, hashes })
  const many = Array.from({ length: 1000 }, (_, i) => deniedRow(`client-${i}`, 2))
  const ada = {
    perSecond: 1,
    firstMs: 5,
    lastMs: 9,
    routes: [['GET /a', 3]],
    networks: [['192.0.2.0/24', 3]],
  } as const
  const merged = mergeReports([
    reportOf({ denied: [deniedRow('ada', 3, { ...ada, addresses: addresses(1, 2) }), deniedRow('bob', 6)] }),
    reportOf({
      denied: [
        deniedRow('ada', 4, { ...ada, firstMs: 4, lastMs: 8, addresses: addresses(2, 3) }),
        deniedRow('ada', 5, { limitName: 'login' }),
        ...many,
      ],
    }),
  ])
  expect(merged.denied).toHaveLength(1000)
  expect(merged.denied.slice(0, 4)).toEqual([
    deniedRow('ada', 7, {
      perSecond: 2,
      firstMs: 4,
      lastMs: 9,
      routes: [['GET /a', 6]],
      networks: [['192.0.2.0/24', 6]],
      addresses: addresses(1, 2, 3),
    }),
    deniedRow('bob', 6),
    deniedRow('ada', 5, { limitName: 'login' }),
    deniedRow('client-0', 2),
  ])
})

test('a run of denials is that of all processes together, and counting began with the first', () => {
  const merged = mergeReports([
    reportOf({ sinceMs: 500, run: { sinceMs: 700, lastMs: 900, risenMs: 800, perMinute: 2 } }),
    reportOf({ sinceMs: 400, run: { sinceMs: 600, lastMs: 800, risenMs: 600, perMinute: 3 } }),
  ])
  expect([merged.sinceMs, merged.run]).toEqual([
    400,
    { sinceMs: 600, lastMs: 900, risenMs: 600, perMinute: 5 },
  ])
  expect(mergeReports([reportOf(), reportOf()])).not.toHaveProperty('run')
})

test('the state of the store is the worst that a process sees', () => {
  const withState = (state: 'closed' | 'half-open' | 'open') => reportOf({ store: { ...store, state } })
  const [closed, halfOpen, open] = [withState('closed'), withState('half-open'), withState('open')]
  expect(mergeReports([closed, closed]).store.state).toBe('closed')
  expect(mergeReports([closed, halfOpen]).store.state).toBe('half-open')
  expect(mergeReports([closed, open, halfOpen]).store.state).toBe('open')
  expect(mergeReports([open, closed]).store.state).toBe('open')
})

test('calls of the store are added up', () => {
  const latency = store.latency.map((_, i) => (i === 3 ? 2 : 0))
  const own = reportOf({ store: { ...store, calls: 2, failures: 1, latency } })
  expect(mergeReports([own, own]).store).toMatchObject({ calls: 4, failures: 2 })
  expect(mergeReports([own, own]).store.latency[3]).toBe(4)
})

test('an outage is that of the processes that see it: since the first, with the decisions of all', () => {
  const outage = { sinceMs: 2000, allowed: 1, denied: 2, local: 3, byStore: 4, processes: 1, servers: ['a'] }
  const within = (own: object) => reportOf({ store: { ...store, ...own } })
  const merged = mergeReports([
    within({}),
    within({ outage }),
    within({ outage: { ...outage, sinceMs: 1000, servers: ['b', 'a'] } }),
  ])
  expect(merged.store.outage).toEqual({
    sinceMs: 1000,
    allowed: 2,
    denied: 4,
    local: 6,
    byStore: 8,
    processes: 2,
    servers: ['a', 'b'],
  })
  expect(mergeReports([within({}), within({})]).store).not.toHaveProperty('outage')
})

/** What a process reports whose candidate has denied the clients `denied`, of `clients`. */
function reportOfCandidate(sinceMs: number, clients: string[], denied: string[]): LimiterReport {
  const limiter = createLimiter<string>({
    limit: 1000,
    window: '1m',
    key: (id) => id,
    candidate: candidateLimits({ policy: fixedWindow({ limit: 1, window: '1h' }) }),
  })
  for (const client of [...clients, ...denied]) limiter.charge(client)
  const candidate = limiter.candidateReport() as CandidateReport
  const candidateClients = inspectionOf(limiter)?.candidateClients() as CandidateClients
  return reportOf({ candidate: { ...candidate, sinceMs }, candidateClients })
}

test('what candidates would have done is added up; a client of several processes counts once', () => {
  const merged = mergeReports([
    reportOfCandidate(2000, ['ada', 'bob', 'cat'], ['ada', 'ada', 'bob']),
    reportOf(),
    reportOfCandidate(1000, ['ada', 'eve', 'cat'], ['ada', 'eve', 'eve']),
  ])
  expect(merged.candidate).toMatchObject({
    sinceMs: 1000,
    requests: 12,
    clients: 4,
    deniedClients: 3,
    denied: 6,
    newlyDenied: 6,
    newlyAllowed: 0,
    failed: 0,
  })
  const [limit] = merged.candidate?.limits ?? []
  expect(limit).toMatchObject({ denied: 6, excessUnits: 6, deniedClients: 3 })
  expect(limit?.mostDenied.map(({ denied }) => denied)).toEqual([3, 2, 1])
  expect(mergeReports([reportOf(), reportOf()])).not.toHaveProperty('candidate')
})

test('four processes that serve the same 199 clients count 199, and not 796', () => {
  const clients = Array.from({ length: 199 }, (_, i) => `client-${i}`)
  const reports = Array.from({ length: 4 }, () => reportOfCandidate(1, clients, ['client-7']))
  const [first, ...others] = reports as [LimiterReport, ...LimiterReport[]]
  expect(mergeReports([first, ...others]).candidate).toMatchObject({ clients: 199, deniedClients: 1 })
})
