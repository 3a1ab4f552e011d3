import type { DenialRun, LimiterReport } from '../figures/report.js'
import { MINUTE_SLOTS, SLOT_MS } from '../figures/traffic.js'

/** Returns a report of a process whose clock is ahead by `aheadMs`, as if it were right. */
export function shiftedReport(report: LimiterReport, aheadMs: number): LimiterReport {
  if (aheadMs === 0) return report
  const { run, blocked, traffic, store } = report
  const shift = (atMs: number) => Math.max(0, atMs - aheadMs)
  return {
    ...report,
    sinceMs: shift(report.sinceMs),
    traffic: { ...traffic, lastSlot: traffic.lastSlot - Math.round(aheadMs / SLOT_MS) },
    ...(run && { run: shiftedRun(run, shift) }),
    ...(blocked && { blocked: shiftedRun(blocked, shift) }),
    denied: report.denied.map((client) => ({
      ...client,
      firstMs: shift(client.firstMs),
      lastMs: shift(client.lastMs),
    })),
    store: {
      ...store,
      ...(store.outage && { outage: { ...store.outage, sinceMs: shift(store.outage.sinceMs) } }),
    },
  }
}

/**
 * Returns what still counts of a process that ended `endedMs` ago: its requests, and not how clients and the store are.
 * Like its clients, which are listed for a quarter of an hour, its limits count for as long as theirs do: a minute.
 */
export function pastReport(report: LimiterReport, endedMs: number): LimiterReport {
  const { name } = report.store
  const traffic = { ...report.traffic, perSecond: { allowed: 0, denied: 0 } }
  return {
    ...report,
    traffic,
    limits: endedMs < MINUTE_SLOTS * SLOT_MS ? report.limits : [],
    near: [],
    denied: report.denied.map((client) => ({ ...client, perSecond: 0 })),
    store: { name, state: 'closed', calls: 0, failures: 0, latency: [] },
  }
}

function shiftedRun(run: DenialRun, shift: (atMs: number) => number): DenialRun {
  return { ...run, sinceMs: shift(run.sinceMs), lastMs: shift(run.lastMs), risenMs: shift(run.risenMs) }
}
