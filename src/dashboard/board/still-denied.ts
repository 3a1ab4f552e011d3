import { distinctIn } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { FORGOTTEN_MS } from '../figures/denied-pool.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { DenialFigures, DeniedRow, LimiterReport } from '../figures/report.js'
import { isEnded } from './ended-by.js'
import { leftDenied } from './left-denied.js'

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
 * Returns what is denied since a run began. If an operator has blocked some of the clients since, or has allowed them
 * more at `remedyMs`, it is what the others have: a flood that is blocked is not theirs.
 */
export function stillDenied(
  report: LimiterReport,
  sinceMs: number,
  nowMs: number,
  remedyMs?: number,
): StillDenied {
  const { denials, denied, blocked } = report
  const clients = denied.filter(({ lastMs }) => lastMs >= sinceMs)
  const blockedMs = blocked && nowMs - blocked.lastMs < FORGOTTEN_MS ? blocked.risenMs : undefined
  const changesMs = [blockedMs, remedyMs].filter((ms) => ms !== undefined)
  const isOver = (client: DeniedRow) => changesMs.some((changeMs) => isOverFor(client, changeMs, nowMs))
  const others = clients.filter((client) => !isOver(client))
  if (others.length < clients.length) {
    const over = clients.filter(isOver)
    const perSecond = (rows: readonly DeniedRow[]) => rows.reduce((sum, row) => sum + row.perSecond, 0)
    const left = leftDenied(denials, over, others)
    const isListed = left.deniedClients === others.length
    const unlisted = isListed ? 0 : deniedRates(report).denied - perSecond(over)
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

/** Returns whether a client has not been denied since a change, such as since blocked requests became as frequent as they are. */
function isOverFor({ denied, firstMs, lastMs }: DeniedRow, changeMs: number, nowMs: number): boolean {
  return isEnded(lastMs, (lastMs - firstMs) / Math.max(1, denied - 1), changeMs, nowMs)
}

/**
 * Returns denials by limits, and blocked requests, a second, over the last minute. The same slots count both, so their
 * counts split the rate. While only blocked requests are denied, all of it is theirs: the row and its sentence say one
 * number, also in the minute after a block.
 */
export function ratesOf(report: LimiterReport, isDenied: boolean) {
  const { allowed, denied: all } = report.traffic.perSecond
  const { denied, blocked } = deniedRates(report)
  return isDenied || blocked === 0 ? { allowed, denied, blocked } : { allowed, denied: 0, blocked: all }
}

/** Returns how often limits deny, and how often requests are blocked, a second, however the denials go on. */
function deniedRates({ run, blocked, traffic }: LimiterReport) {
  const { denied } = traffic.perSecond
  if (blocked === undefined || blocked.perMinute === 0) return { denied, blocked: 0 }
  const perMinute = blocked.perMinute + (run?.perMinute ?? 0)
  const ofBlocked = (denied * blocked.perMinute) / perMinute
  return { denied: denied - ofBlocked, blocked: ofBlocked }
}
