import type { FindingFigures, LimitsChange } from '../figures/finding-figures.js'
import type { DeniedRow, LimiterReport } from '../figures/report.js'
import { goesOn } from '../figures/run.js'
import type { ShownOutage } from '../figures/shown.js'
import { shownClient } from './detail.js'
import { deniedRates, stillDenied } from './still-denied.js'

/** The clients that a finding looks at. */
const MAX_CLIENTS = 50

/** What a finding needs besides the report of its limiter. */
export interface Circumstances {
  readonly nowMs: number
  readonly outage: ShownOutage | undefined
  labelOf(client: DeniedRow): string | undefined
  readonly change: LimitsChange | undefined
}

/** Returns what a finding about a limiter is made from. */
export function findingFiguresOf(
  report: LimiterReport,
  { nowMs, outage, labelOf, change }: Circumstances,
): FindingFigures {
  const { run } = report
  const current = run && goesOn(run, nowMs) ? run : undefined
  const { clients, ...denied } = stillDenied(report, current?.sinceMs ?? Number.POSITIVE_INFINITY, nowMs)
  const isDenied = current !== undefined && denied.denied > 0
  return {
    nowMs,
    name: report.name,
    mode: report.mode,
    allowedPerSecond: report.traffic.perSecond.allowed,
    blockedPerSecond: deniedRates(report).blocked,
    ...(isDenied ? denied : NOTHING_DENIED),
    ...(isDenied && { deniedSinceMs: current.risenMs, runSinceMs: current.sinceMs }),
    clients: clients.slice(0, MAX_CLIENTS).map((client) => shownClient(client, labelOf(client))),
    limits: report.limits,
    ...(outage && { outage }),
    ...(change && { change }),
  }
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
