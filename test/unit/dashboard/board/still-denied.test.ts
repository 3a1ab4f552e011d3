import { deniedRates, stillDenied } from '../../../../src/dashboard/board/still-denied.js'
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
  expect(deniedRates(report)).toEqual({ denied: expect.closeTo(0.5), blocked: expect.closeTo(9.5) })
})
