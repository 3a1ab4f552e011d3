import { distinctIn } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { FORGOTTEN_MS } from '../figures/denied-pool.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { DenialFigures, DeniedRow, LimiterReport } from '../figures/report.js'
import { leftDenied } from './left-denied.js'

/** Processes follow a block within this time. */
const FOLLOWED_MS = 3000
/** Who is not denied for so many times its usual interval, while blocked requests come, has been blocked. */
const TIMES_INTERVAL = 2

/** What is denied by limits, and by which clients of those that are listed. */
export interface StillDenied
  extends Pick<
    FindingFigures,
    'deniedClients' | 'denied' | 'addresses' | 'networkCount' | 'networks' | 'routes' | 'deniedPerSecond'
  > {
  readonly clients: readonly DeniedRow[]
}

/** Of most limiters, denials stay the same from one second to the next. */
const placesOf = weakMemo(({ networks, routes }: DenialFigures) => ({
  networks: networks.map(({ network, denied, addresses }) => {
    return { network, denied, addresses: distinctIn(addresses) }
  }),
  routes: routes.map(([route, denied]) => ({ route, denied })),
}))

/**
 * Returns what is denied since a run began. If an operator has blocked some of the clients since, it is what the others
 * have: a flood that is blocked is not theirs.
 */
export function stillDenied(report: LimiterReport, sinceMs: number, nowMs: number): StillDenied {
  const { denials, denied, blocked } = report
  const clients = denied.filter(({ lastMs }) => lastMs >= sinceMs)
  const blockedMs = blocked && nowMs - blocked.lastMs < FORGOTTEN_MS ? blocked.risenMs : undefined
  const others = clients.filter((client) => !isBlocked(client, blockedMs, nowMs))
  if (others.length < clients.length) {
    const blockedClients = clients.filter((client) => isBlocked(client, blockedMs, nowMs))
    const perSecond = (rows: readonly DeniedRow[]) => rows.reduce((sum, row) => sum + row.perSecond, 0)
    const left = leftDenied(denials, blockedClients, others)
    const isListed = left.deniedClients === others.length
    const unlisted = isListed ? 0 : deniedRates(report).denied - perSecond(blockedClients)
    return { clients: others, ...left, deniedPerSecond: Math.max(perSecond(others), unlisted) }
  }
  return {
    clients,
    deniedClients: distinctIn(denials.clients),
    denied: denials.denied,
    addresses: distinctIn(denials.addresses),
    networkCount: distinctIn(denials.networkNames),
    ...placesOf(denials),
    deniedPerSecond: deniedRates(report).denied,
  }
}

/** Returns whether a client has not been denied since blocked requests became as frequent as they are. */
function isBlocked(
  { denied, firstMs, lastMs }: DeniedRow,
  blockedMs: number | undefined,
  nowMs: number,
): boolean {
  if (blockedMs === undefined || lastMs >= blockedMs + FOLLOWED_MS) return false
  const intervalMs = (lastMs - firstMs) / Math.max(1, denied - 1)
  return nowMs - lastMs >= Math.max(FOLLOWED_MS, TIMES_INTERVAL * intervalMs)
}

/** Returns denials by limits, and blocked requests, a second. The same slots count both, so their counts split the rate. */
export function deniedRates({ run, blocked, traffic }: LimiterReport) {
  const { denied } = traffic.perSecond
  if (blocked === undefined || blocked.perMinute === 0) return { denied, blocked: 0 }
  const perMinute = blocked.perMinute + (run?.perMinute ?? 0)
  const ofBlocked = (denied * blocked.perMinute) / perMinute
  return { denied: denied - ofBlocked, blocked: ofBlocked }
}
