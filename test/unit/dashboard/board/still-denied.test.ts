import { ratesOf, stillDenied } from '../../../../src/dashboard/board/still-denied.js'
import { mergeBriefly } from '../../../../src/dashboard/figures/merge.js'
import { DistinctCounter } from '../../../../src/util/distinct-sample.js'
import { deniedRow, reportOf, trafficOf } from '../figures/reports.js'

const SECOND_MS = 1000
/** Blocked requests began to come a minute after the first denial. */
const BLOCKED_MS = 60 * SECOND_MS

/** A scraper that was denied 10 times a second until it was blocked, beside a customer denied every 20 s. */
function reportAt(nowMs: number) {
  const customerMs = Math.floor((nowMs - SECOND_MS) / 20_000) * 20_000
  const run = { sinceMs: 0, lastMs: customerMs, risenMs: 0, perMinute: 3 }
  return reportOf({
    run,
    blocked: { sinceMs: BLOCKED_MS, lastMs: nowMs, risenMs: BLOCKED_MS, perMinute: 57 },
    traffic: { ...trafficOf(0, []), perSecond: { allowed: 1, denied: 10 } },
    denied: [
      deniedRow('scraper', 600, { firstMs: 0, lastMs: BLOCKED_MS + SECOND_MS }),
      deniedRow('acme', 1 + customerMs / 20_000, { firstMs: 0, lastMs: customerMs, perSecond: 0.05 }),
    ],
  })
}

test('a customer that is denied now and then stays when a scraper has been blocked', () => {
  const shown = Array.from({ length: 120 }, (_, i) => {
    const nowMs = BLOCKED_MS + (i + 2) * SECOND_MS
    return stillDenied(reportAt(nowMs), 0, nowMs)
      .clients.map(({ identity }) => identity)
      .join()
  })
  expect([...new Set(shown)]).toEqual(['scraper,acme', 'acme'])
  expect(shown.lastIndexOf('scraper,acme')).toBe(1) // it was denied last a second after the block
})

test('a client that is denied again is not blocked, and blocked requests are no denials of it', () => {
  const report = reportAt(BLOCKED_MS + 200 * SECOND_MS)
  const back = deniedRow('scraper', 601, { firstMs: 0, lastMs: BLOCKED_MS + 4 * SECOND_MS })
  const { clients, denied } = stillDenied({ ...report, denied: [back] }, 0, BLOCKED_MS + 200 * SECOND_MS)
  expect([clients, denied]).toEqual([[back], 0])
  expect(ratesOf(report, 0.5)).toEqual({
    allowed: 1,
    denied: 0.5,
    blocked: 9.5,
  })
  expect(ratesOf(report, 0)).toEqual({ allowed: 1, denied: 0, blocked: 10 })
})

/** Returns what a process reports if it has denied clients twice each, the first of which were blocked, and lists some. */
function floodOf(clients: number, blocked: number, listed: number) {
  const nowMs = BLOCKED_MS + 60 * SECOND_MS
  const names = Array.from({ length: clients }, (_, i) => `client-${i}`)
  const sample = (each: readonly string[]) => {
    const counter = new DistinctCounter(1000)
    for (const name of each) counter.add(name)
    return counter
  }
  const rows = names.map((name, i) => {
    const isBlocked = i < blocked
    const networks = [[`10.${i % 4}.0.0/24`, isBlocked ? 3 : 2]] as const
    const lastMs = isBlocked ? BLOCKED_MS : nowMs - SECOND_MS
    return deniedRow(name, isBlocked ? 3 : 2, {
      lastMs,
      networks,
      addresses: sample([name]),
      routes: [['GET /', 2]],
    })
  })
  const denied = 2 * clients + blocked
  return reportOf({
    run: { sinceMs: 0, lastMs: nowMs - SECOND_MS, risenMs: 0, perMinute: 100 },
    blocked: { sinceMs: BLOCKED_MS, lastMs: nowMs, risenMs: BLOCKED_MS, perMinute: 100 },
    denials: {
      denied,
      clients: sample(names),
      addresses: sample(names),
      networkNames: sample([0, 1, 2, 3].map((i) => `10.${i}.0.0/24`)),
      routes: [['GET /', denied]],
      networks: [0, 1, 2, 3].map((i) => ({
        network: `10.${i}.0.0/24`,
        denied: denied / 4,
        addresses: sample([]),
      })),
    },
    denied: rows.slice(0, listed),
  })
}

test('after a block of up to 200 clients, all others count, whether they are listed or not', () => {
  const left = [
    [100, 60],
    [300, 200],
    [900, 200],
    [900, 52],
  ].map(([clients = 0, blocked = 0]) => {
    const report = mergeBriefly([floodOf(clients, blocked, 400)], 50)
    const {
      deniedClients,
      denied,
      addresses,
      networkCount,
      networks,
      clients: listed,
    } = stillDenied(report, 0, BLOCKED_MS + 60 * SECOND_MS)
    const inNetworks = networks.reduce((sum, each) => sum + each.denied, 0)
    return [deniedClients, denied, addresses, networkCount, inNetworks, listed.length > 0]
  })
  expect(left).toEqual([
    [40, 80, 40, 4, 80, true],
    [100, 200, 100, 4, 200, true],
    [700, 1400, 700, 4, 1400, true],
    [848, 1696, 848, 4, 1696, true],
  ])
})

test('processes that list the same clients do not count them twice', () => {
  const report = mergeBriefly([floodOf(300, 200, 400), floodOf(300, 200, 400)], 50)
  const { deniedClients, denied, addresses } = stillDenied(report, 0, BLOCKED_MS + 60 * SECOND_MS)
  expect([deniedClients, denied, addresses]).toEqual([100, 400, 100])
})

test('a client that is not denied since its limit was raised is left out, beside others that go on', () => {
  const raisedMs = 30 * SECOND_MS
  const nowMs = raisedMs + 20 * SECOND_MS
  const report = reportOf({
    run: { sinceMs: 0, lastMs: nowMs, risenMs: 0, perMinute: 60 },
    denied: [
      deniedRow('raised', 30, { firstMs: 0, lastMs: raisedMs + SECOND_MS }),
      deniedRow('rare', 3, { firstMs: 0, lastMs: raisedMs }),
      deniedRow('again', 9, { firstMs: 0, lastMs: raisedMs + 4 * SECOND_MS }),
      deniedRow('other', 50, { firstMs: 0, lastMs: nowMs }),
    ],
  })
  const namesAt = (atMs: number, remedyMs?: number) =>
    stillDenied(report, 0, atMs, remedyMs).clients.map(({ identity }) => identity)
  expect(namesAt(nowMs)).toEqual(['raised', 'rare', 'again', 'other'])
  expect(namesAt(nowMs, raisedMs)).toEqual(['rare', 'again', 'other'])
  expect(namesAt(raisedMs + 2 * SECOND_MS, raisedMs)).toEqual(['raised', 'rare', 'again', 'other'])
})

/** Attackers that four processes have denied until a block, beside customers that go on, with what each process counted. */
function afterBlock(processes: number) {
  const nowMs = BLOCKED_MS + 8 * SECOND_MS
  const customers = Array.from({ length: 20 }, (_, i) =>
    deniedRow(`cust-${i}`, 12, { firstMs: 0, lastMs: nowMs - SECOND_MS, perSecond: 0.7 / processes }),
  )
  const attackers = Array.from({ length: 150 }, (_, i) =>
    deniedRow(`bad-${i}`, 2, { firstMs: BLOCKED_MS - SECOND_MS, lastMs: BLOCKED_MS - 900, perSecond: 1 }),
  )
  const one = reportOf({
    run: { sinceMs: 0, lastMs: nowMs - SECOND_MS, risenMs: 0, perMinute: 1500 },
    blocked: { sinceMs: BLOCKED_MS, lastMs: nowMs, risenMs: BLOCKED_MS, perMinute: 200 },
    traffic: { ...trafficOf(0, []), perSecond: { allowed: 5, denied: 119 / processes } },
    denied: [...attackers, ...customers],
  })
  return { report: mergeBriefly(Array(processes).fill(one) as never, 200), nowMs }
}

test('after a block, the rate is that of those still denied, and never more than that of the limiter', () => {
  const { report, nowMs } = afterBlock(4)
  const { clients, deniedPerSecond } = stillDenied(report, 0, nowMs)
  expect([clients.length, deniedPerSecond]).toEqual([20, expect.closeTo(14)])
  const { denied, blocked } = ratesOf(report, deniedPerSecond)
  expect(denied + blocked).toBeCloseTo(119)
  const bursts = report.denied.map((row) => ({ ...row, perSecond: 100 }))
  expect(stillDenied({ ...report, denied: bursts }, 0, nowMs).deniedPerSecond).toBeLessThan(119)
})

test('customers that pause at the beginning of each fixed window are still denied beside blocked requests', () => {
  const lastMs = 69_900
  const limits = [
    {
      name: 'api',
      kind: 'fixed-window',
      limit: 5,
      windowMs: 10_000,
      isLocal: false,
      allowed: 9,
      denied: 9,
      peak: 1,
    },
  ]
  const { report } = afterBlock(1)
  const isShownAt = (nowMs: number, at = lastMs, known = limits) => {
    const denied = [deniedRow('acme', 700, { firstMs: 0, lastMs: at })]
    return stillDenied(
      { ...report, blocked: { ...report.blocked, risenMs: 67_000 } as never, limits: known, denied },
      0,
      nowMs,
    ).clients.length
  }
  const waits = [4000, 9000, 14_000].map((ms) => isShownAt(lastMs + ms))
  expect([waits, isShownAt(66_000 + 4000, 66_000), isShownAt(lastMs + 4000, lastMs, [])]).toEqual([
    [1, 1, 0],
    0,
    0,
  ])
})
