import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import type { LimitReport } from '../../../../src/dashboard/figures/report.js'
import { reportOf, trafficOf } from './reports.js'

const limit: LimitReport = {
  name: 'api',
  kind: 'fixed-window',
  limit: 10,
  windowMs: 60_000,
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

test('a limit is one of the same name, size and window', () => {
  const { limits } = mergeReports([
    reportOf({ limits: [{ ...limit, kind: '', allowed: 1, denied: 2, peak: 0.5 }] }),
    reportOf({ limits: [{ ...limit, allowed: 10, denied: 20, peak: 0.75 }] }),
    reportOf({ limits: [{ ...limit, limit: 20, allowed: 100 }] }),
  ])
  expect(limits).toEqual([
    { ...limit, allowed: 11, denied: 22, peak: 0.75 },
    { ...limit, limit: 20, allowed: 100 },
  ])
})

test('a client is near a limit as the process says that knows it nearest', () => {
  const near = (identity: string, remaining: number) => ({ limitName: 'api', identity, limit: 10, remaining })
  const merged = mergeReports([
    reportOf({ near: [near('ada', 2), near('bob', 1)] }),
    reportOf({ near: [near('ada', 0)] }),
  ])
  expect(merged.near).toEqual([near('ada', 0), near('bob', 1)])
})

test('denials of a client are added up for each limit, and 20 clients are listed', () => {
  const denied = (identity: string, times: number, limitName = 'api') => ({
    limitName,
    identity,
    denied: times,
  })
  const many = Array.from({ length: 20 }, (_, i) => denied(`client-${i}`, 2))
  const merged = mergeReports([
    reportOf({ denied: [denied('ada', 3), denied('bob', 6)] }),
    reportOf({ denied: [denied('ada', 4), denied('ada', 5, 'login'), ...many] }),
  ])
  expect(merged.denied).toHaveLength(20)
  expect(merged.denied.slice(0, 4)).toEqual([
    denied('ada', 7),
    denied('bob', 6),
    denied('ada', 5, 'login'),
    denied('client-0', 2),
  ])
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

test('what candidates would have done is added up; a client that several processes list counts once', () => {
  const candidate = (identity: string, sinceMs: number) => ({
    sinceMs,
    requests: 100,
    clients: 9,
    deniedClients: 2,
    denied: 5,
    newlyDenied: 4,
    newlyAllowed: 3,
    failed: 2,
    limits: [
      {
        name: 'api',
        denied: 5,
        excessUnits: 6,
        deniedClients: 2,
        mostDenied: [
          { identity: 'ada', denied: 3 },
          { identity, denied: 2 },
        ],
      },
    ],
  })
  const merged = mergeReports([
    reportOf({ candidate: candidate('bob', 2000) }),
    reportOf(),
    reportOf({ candidate: candidate('eve', 1000) }),
  ])
  expect(merged.candidate).toEqual({
    sinceMs: 1000,
    requests: 200,
    clients: 18,
    deniedClients: 4,
    denied: 10,
    newlyDenied: 8,
    newlyAllowed: 6,
    failed: 4,
    limits: [
      {
        name: 'api',
        denied: 10,
        excessUnits: 12,
        deniedClients: 3,
        mostDenied: [
          { identity: 'ada', denied: 6 },
          { identity: 'bob', denied: 2 },
          { identity: 'eve', denied: 2 },
        ],
      },
    ],
  })
  expect(mergeReports([reportOf(), reportOf()])).not.toHaveProperty('candidate')
})
