import type { DenialRun, LimiterReport } from '../figures/report.js'

/** The clients of limiters are reported that often, if little changes. */
const CLIENTS_MS = 6000
/** If the denials of a limiter have grown by this share, they are reported at once. */
const GROWTH = 0.25
/** After requests begin to be blocked, who is still denied shows in a while. */
const BLOCKED_MS = 12_000

/** What was reported of clients last. */
export interface LastClients {
  readonly atMs: number
  readonly reports: readonly LimiterReport[]
}

/** Returns whether the clients of limiters should be reported now: findings name them within seconds. */
export function areClientsDue(
  last: LastClients | undefined,
  reports: readonly LimiterReport[],
  nowMs: number,
): boolean {
  if (last === undefined || Math.abs(nowMs - last.atMs) >= CLIENTS_MS) return true
  return reports.some((report, i) => hasChanged(last.reports[i], report, nowMs))
}

function hasChanged(
  last: LimiterReport | undefined,
  { run, blocked, denials }: LimiterReport,
  nowMs: number,
): boolean {
  if (begins(last?.run, run) || begins(last?.blocked, blocked)) return true
  if (blocked !== undefined && Math.abs(nowMs - blocked.risenMs) < BLOCKED_MS) return true
  return denials.denied > (1 + GROWTH) * (last?.denials.denied ?? 0)
}

function begins(last: DenialRun | undefined, run: DenialRun | undefined): boolean {
  return run?.sinceMs !== last?.sinceMs
}
