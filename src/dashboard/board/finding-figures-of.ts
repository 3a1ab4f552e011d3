import type { FindingFigures, LimitsChange } from '../figures/finding-figures.js'
import type { DenialRun, DeniedRow, LimiterReport } from '../figures/report.js'
import { goesOn, RUN_GAP_MS } from '../figures/run.js'
import type { ShownOutage } from '../figures/shown.js'
import { shownClient } from './detail.js'
import { isEnded } from './ended-by.js'
import type { LatestChanges } from './latest-changes.js'
import { deniedRates, ratesOf, stillDenied } from './still-denied.js'

/** The clients that a finding looks at. */
const MAX_CLIENTS = 50

/** If it is not known who this share of denials are of, those who are known may not be the cause. */
const MOST_UNKNOWN = 0.2

/** What a finding needs besides the report of its limiter. */
export interface Circumstances extends LatestChanges {
  readonly nowMs: number
  readonly outage: ShownOutage | undefined
  readonly isOverloadGuard: boolean
  labelOf(client: DeniedRow): string | undefined
}

/** Returns what a finding about a limiter is made from. */
export function findingFiguresOf(
  report: LimiterReport,
  { nowMs, outage, isOverloadGuard, labelOf, change, remedy }: Circumstances,
): FindingFigures {
  const { run } = report
  const isRemedied = run !== undefined && remedy !== undefined && isEndedBy(run, remedy, nowMs)
  const current = run && !isRemedied && goesOn(run, nowMs) ? run : undefined
  const sinceMs = current?.sinceMs ?? Number.POSITIVE_INFINITY
  const { clients, ...denied } = stillDenied(report, sinceMs, nowMs, remedy?.atMs)
  const unknown = current && unknownDenials(report, current)
  const found = unknown ?? (current && denied.denied > 0 ? denied : undefined)
  const { allowed, blocked } = ratesOf(report, found?.deniedPerSecond ?? 0)
  return {
    nowMs,
    name: report.name,
    mode: report.mode,
    isOverloadGuard,
    allowedPerSecond: allowed,
    blockedPerSecond: blocked,
    ...(found ?? NOTHING_DENIED),
    ...(current && found && { deniedSinceMs: Math.min(current.risenMs, nowMs), runSinceMs: current.sinceMs }),
    clients: unknown
      ? []
      : clients.slice(0, MAX_CLIENTS).map((client) => shownClient(client, labelOf(client))),
    limits: report.limits,
    ...(outage && { outage }),
    ...(change && { change }),
    ...(found === undefined && run && remedy && isEndedBy(run, remedy) && { remedy }),
  }
}

/** Returns whether denials went on until a change, and have ended with it; if no time is given, as far as that is known. */
function isEndedBy(run: DenialRun, { atMs }: LimitsChange, nowMs = Infinity): boolean {
  return goesOn(run, atMs) && isEnded(run.lastMs, RUN_GAP_MS / Math.max(1, run.perMinute), atMs, nowMs)
}

/** Returns what figures say of denials if the clients of too many of them are not known. */
function unknownDenials(report: LimiterReport, { perMinute }: DenialRun) {
  const { unknownPerMinute = 0 } = report
  if (unknownPerMinute === 0 || unknownPerMinute < MOST_UNKNOWN * perMinute) return undefined
  const deniedPerSecond = deniedRates(report).denied
  return { ...NOTHING_DENIED, deniedPerSecond, denied: perMinute, areClientsUnknown: true } as const
}

const NOTHING_DENIED = {
  deniedPerSecond: 0,
  deniedClients: 0,
  denied: 0,
  addresses: 0,
  networkCount: 0,
  networks: [],
  routes: [],
}
