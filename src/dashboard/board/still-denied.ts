import { distinctIn, mergeSamples, NO_NAMES } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { sumCounts } from '../figures/counts.js'
import { CLIENT_ADDRESSES } from '../figures/denied-client.js'
import { FORGOTTEN_MS } from '../figures/denied-pool.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { DenialFigures, DeniedRow, LimiterReport } from '../figures/report.js'

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
 * listed have: a flood that is blocked is not theirs.
 */
export function stillDenied(report: LimiterReport, sinceMs: number, nowMs: number): StillDenied {
  const { denials, denied, blocked } = report
  const clients = denied.filter(({ lastMs }) => lastMs >= sinceMs)
  const blockedMs = blocked && nowMs - blocked.lastMs < FORGOTTEN_MS ? blocked.risenMs : undefined
  const others = clients.filter((client) => !isBlocked(client, blockedMs, nowMs))
  if (others.length < clients.length) return sumOf(others)
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

function sumOf(clients: readonly DeniedRow[]): StillDenied {
  const networks = sumCounts(clients.map((client) => client.networks))
  return {
    clients,
    deniedClients: clients.length,
    denied: clients.reduce((sum, { denied }) => sum + denied, 0),
    addresses: addressesOf(clients),
    networkCount: networks.length,
    networks: networks.map(([network, denied]) => {
      const there = clients.filter((client) => client.networks.some(([name]) => name === network))
      return { network, denied, addresses: addressesOf(there) }
    }),
    routes: sumCounts(clients.map(({ routes }) => routes)).map(([route, denied]) => ({ route, denied })),
    deniedPerSecond: clients.reduce((sum, { perSecond }) => sum + perSecond, 0),
  }
}

function addressesOf(clients: readonly DeniedRow[]): number {
  const samples = clients.map(({ addresses }) => addresses)
  return distinctIn(mergeSamples([NO_NAMES, ...samples], CLIENT_ADDRESSES))
}

/** Returns denials by limits, and blocked requests, a second. The same slots count both, so their counts split the rate. */
export function deniedRates({ run, blocked, traffic }: LimiterReport) {
  const { denied } = traffic.perSecond
  if (blocked === undefined || blocked.perMinute === 0) return { denied, blocked: 0 }
  const perMinute = blocked.perMinute + (run?.perMinute ?? 0)
  const ofBlocked = (denied * blocked.perMinute) / perMinute
  return { denied: denied - ofBlocked, blocked: ofBlocked }
}
