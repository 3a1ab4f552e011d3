import { distinctIn } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { goesOn } from '../figures/denials.js'
import type { FindingFigures, LimitsChange } from '../figures/finding-figures.js'
import type { DenialFigures, DeniedRow, LimiterReport } from '../figures/report.js'
import type { ShownOutage } from '../figures/shown.js'
import { shownClient } from './detail.js'

/** The clients that a finding looks at. */
const MAX_CLIENTS = 50

/** What a finding needs besides the report of its limiter. */
export interface Circumstances {
  readonly nowMs: number
  readonly outage: ShownOutage | undefined
  labelOf(client: DeniedRow): string | undefined
  readonly change: LimitsChange | undefined
}

/** Of most limiters, denials stay the same from one second to the next. */
const placesOf = weakMemo(({ networks, routes }: DenialFigures) => ({
  networks: networks.map(({ network, denied, addresses }) => {
    return { network, denied, addresses: distinctIn(addresses) }
  }),
  routes: routes.map(([route, denied]) => ({ route, denied })),
}))

/** Returns what a finding about a limiter is made from. */
export function findingFiguresOf(
  report: LimiterReport,
  { nowMs, outage, labelOf, change }: Circumstances,
): FindingFigures {
  const { run, denials, denied, traffic } = report
  const current = run && goesOn(run, nowMs) ? run : undefined
  const clients = current ? denied.filter(({ lastMs }) => lastMs >= current.sinceMs) : []
  return {
    nowMs,
    name: report.name,
    mode: report.mode,
    allowedPerSecond: traffic.perSecond.allowed,
    deniedPerSecond: traffic.perSecond.denied,
    ...(current && { deniedSinceMs: current.sinceMs }),
    deniedClients: current ? distinctIn(denials.clients) : 0,
    denied: current ? denials.denied : 0,
    addresses: current ? distinctIn(denials.addresses) : 0,
    networkCount: current ? distinctIn(denials.networkNames) : 0,
    clients: clients.slice(0, MAX_CLIENTS).map((client) => shownClient(client, labelOf(client))),
    ...placesOf(denials),
    limits: report.limits,
    ...(outage && { outage }),
    ...(change && { change }),
  }
}
