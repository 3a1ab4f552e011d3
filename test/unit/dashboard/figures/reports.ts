import { BUCKETS } from '../../../../src/dashboard/figures/latency.js'
import type { DeniedRow, LimiterReport, TrafficReport } from '../../../../src/dashboard/figures/report.js'
import { CHART_SLOTS } from '../../../../src/dashboard/figures/traffic.js'
import { NO_NAMES } from '../../../../src/util/distinct-sample.js'

/** Returns traffic with counts in its last slots. */
export function trafficOf(
  lastSlot: number,
  allowed: readonly number[],
  denied: readonly number[] = [],
): TrafficReport {
  const past = (counts: readonly number[]) => [
    ...Array<number>(CHART_SLOTS - Math.max(1, counts.length)).fill(0),
    ...counts.slice(0, -1),
  ]
  return {
    lastSlot,
    allowed: allowed.at(-1) ?? 0,
    denied: denied.at(-1) ?? 0,
    past: { allowed: past(allowed), denied: past(denied) },
    perSecond: { allowed: 0, denied: 0 },
  }
}

/** Returns what a process reports that has counted nothing. */
export function reportOf(own: Partial<LimiterReport> = {}): LimiterReport {
  const latency = Array<number>(BUCKETS).fill(0)
  return {
    name: 'api',
    mode: 'enforce',
    sinceMs: 0,
    traffic: trafficOf(0, []),
    limits: [],
    near: [],
    denials: {
      denied: 0,
      clients: NO_NAMES,
      addresses: NO_NAMES,
      networkNames: NO_NAMES,
      routes: [],
      networks: [],
    },
    denied: [],
    store: { name: 'redis', state: 'closed', calls: 0, failures: 0, latency },
    ...own,
  }
}

/** Returns a client that was denied, from nowhere. */
export function deniedRow(identity: string, denied: number, own: Partial<DeniedRow> = {}): DeniedRow {
  return {
    limitName: 'api',
    identity,
    denied,
    perSecond: 0,
    firstMs: 0,
    lastMs: 0,
    routes: [],
    networks: [],
    addresses: NO_NAMES,
    ...own,
  }
}
