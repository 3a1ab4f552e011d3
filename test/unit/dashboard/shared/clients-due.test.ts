import type { LimiterReport } from '../../../../src/dashboard/figures/report.js'
import { areClientsDue } from '../../../../src/dashboard/shared/clients-due.js'
import { reportOf } from '../figures/reports.js'

const NOW_MS = 1_790_000_000_000
const run = { sinceMs: NOW_MS, lastMs: NOW_MS, risenMs: NOW_MS, perMinute: 1 }
const denied = (count: number, own: Partial<LimiterReport> = {}) =>
  reportOf({ run, denials: { ...reportOf().denials, denied: count }, ...own })
const calm = reportOf({ name: 'calm' })

test.each<[string, boolean, number, LimiterReport[], LimiterReport[]]>([
  ['nothing changes', false, 5999, [denied(100)], [denied(100)]],
  ['six seconds have passed', true, 6000, [denied(100)], [denied(100)]],
  ['the clock is set back by an hour', true, -3_600_000, [denied(100)], [denied(100)]],
  ['denials grow by a quarter', false, 1, [denied(100)], [denied(125)]],
  ['denials grow by more', true, 1, [denied(100)], [denied(126)]],
  ['those of the last limiter grow', true, 1, [calm, denied(1)], [calm, denied(2)]],
  ['a run begins', true, 1, [calm], [denied(1)]],
  ['another run begins', true, 1, [denied(9)], [denied(1, { run: { ...run, sinceMs: NOW_MS + 1 } })]],
  ['blocked requests begin', true, 1, [calm], [reportOf({ blocked: run })]],
  ['they began lately', true, 11_999, [reportOf({ blocked: run })], [reportOf({ blocked: run })]],
  ['they began a while ago', false, 12_001, [reportOf({ blocked: run })], [reportOf({ blocked: run })]],
])('if %s, that clients are due is %j', (_, isDue, afterMs, before, now) => {
  const nowMs = NOW_MS + afterMs
  const lastMs = afterMs > 10_000 ? nowMs - 1 : NOW_MS
  expect(areClientsDue({ atMs: lastMs, reports: before }, now, nowMs)).toBe(isDue)
})

test('clients that were never reported are due', () => {
  expect(areClientsDue(undefined, [calm], NOW_MS)).toBe(true)
})
