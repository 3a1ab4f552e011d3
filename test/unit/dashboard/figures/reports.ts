import { BUCKETS } from '../../../../src/dashboard/figures/latency.js'
import type { LimiterReport, TrafficReport } from '../../../../src/dashboard/figures/report.js'
import { CHART_SLOTS } from '../../../../src/dashboard/figures/traffic.js'

/** Returns traffic with counts in its last slots. */
export function trafficOf(
  lastSlot: number,
  allowed: readonly number[],
  denied: readonly number[] = [],
): TrafficReport {
  const pad = (counts: readonly number[]) => [
    ...Array<number>(CHART_SLOTS - counts.length).fill(0),
    ...counts,
  ]
  return { lastSlot, allowed: pad(allowed), denied: pad(denied), perSecond: { allowed: 0, denied: 0 } }
}

/** Returns what a process reports that has counted nothing. */
export function reportOf(own: Partial<LimiterReport> = {}): LimiterReport {
  const latency = Array<number>(BUCKETS).fill(0)
  return {
    name: 'api',
    mode: 'enforce',
    traffic: trafficOf(0, []),
    limits: [],
    near: [],
    denied: [],
    store: { name: 'redis', state: 'closed', calls: 0, failures: 0, latency },
    ...own,
  }
}
