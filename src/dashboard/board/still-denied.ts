import { distinctIn } from '../../util/distinct-sample.js'
import { weakMemo } from '../../util/memo.js'
import { FORGOTTEN_MS } from '../figures/denied-pool.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { DenialFigures, DeniedRow, LimiterReport, LimitRow } from '../figures/report.js'
import { FOLLOWED_MS, isEnded } from './ended-by.js'
import { leftDenied } from './left-denied.js'

/** The longest pause that is waited for: a longer one would show blocked clients for too long. */
const MAX_PAUSE_MS = 10_000

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
  const isOver = (client: DeniedRow) => {
    const pauseMs = pauseOf(client, report.limits)
    return changesMs.some((changeMs) => isOverFor(client, changeMs, nowMs, pauseMs))
  }
  const others = clients.filter((client) => !isOver(client))
  if (others.length < clients.length) {
    const over = clients.filter(isOver)
    const left = leftDenied(denials, over, others)
    return { clients: others, ...left, deniedPerSecond: leftRate(report, others, left.denied) }
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
function isOverFor(
  { denied, firstMs, lastMs }: DeniedRow,
  changeMs: number,
  nowMs: number,
  pauseMs: number,
): boolean {
  return isEnded(lastMs, (lastMs - firstMs) / Math.max(1, denied - 1), changeMs, nowMs, pauseMs)
}

/**
 * Returns how long a client that goes on asking may not be denied: one that was denied until a fixed window ended is
 * allowed in the next one, until it is at its limit again.
 */
function pauseOf({ limitName, lastMs }: DeniedRow, limits: readonly LimitRow[]): number {
  const pauses = limits
    .filter(({ name, kind }) => name === limitName && kind === 'fixed-window')
    .flatMap(({ windowMs }) => (windowMs && windowMs - (lastMs % windowMs) <= FOLLOWED_MS ? windowMs : []))
  return Math.min(MAX_PAUSE_MS, Math.max(0, ...pauses))
}

/** Returns how often the clients are denied that are left: as those that are listed, but never more than all together. */
function leftRate(report: LimiterReport, listed: readonly DeniedRow[], leftDenials: number): number {
  const all = deniedRates(report).denied
  const denied = listed.reduce((sum, row) => sum + row.denied, 0)
  const perSecond = listed.reduce((sum, row) => sum + row.perSecond, 0)
  if (denied === 0) return (all * leftDenials) / Math.max(1, report.denials.denied)
  return Math.min(all, (perSecond * leftDenials) / denied)
}

/**
 * Returns denials, and blocked requests, a second, over the last minute. `stillPerSecond` is how often those are denied
 * that still are: all else is of blocked requests, or of clients that have been blocked since.
 */
export function ratesOf(report: LimiterReport, stillPerSecond: number) {
  const { allowed, denied: all } = report.traffic.perSecond
  const { blocked } = deniedRates(report)
  return { allowed, denied: stillPerSecond, blocked: blocked === 0 ? 0 : Math.max(0, all - stillPerSecond) }
}

/** Returns how often limits deny, and how often requests are blocked, a second, however the denials go on. */
export function deniedRates({ run, blocked, traffic }: LimiterReport) {
  const { denied } = traffic.perSecond
  if (blocked === undefined || blocked.perMinute === 0) return { denied, blocked: 0 }
  const perMinute = blocked.perMinute + (run?.perMinute ?? 0)
  const ofBlocked = (denied * blocked.perMinute) / perMinute
  return { denied: denied - ofBlocked, blocked: ofBlocked }
}
