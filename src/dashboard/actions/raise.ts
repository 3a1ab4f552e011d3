import type { ClientDemand, LimitDemand } from '../../tuning/client-demand.js'
import { roundUp } from '../../tuning/suitable-limit.js'
import type { LimitRow } from '../figures/report.js'
import type { ShownClient } from '../figures/shown.js'
import { clientsAmong } from './targeted-clients.js'
import type { Target } from './targets.js'

/** For how long a client is expected to go on, even if it has been denied for a shorter time. */
const LEAST_SPAN_MS = 60_000

/** What is known of the limits of a limiter, and of the clients that it denied. */
export interface KnownDemand {
  readonly limits: readonly LimitRow[]
  readonly denied: readonly ShownClient[]
  readonly demands: readonly LimitDemand[]
}

/** A limit, and the number to which it could be raised. */
export interface Raise {
  readonly limitName: string
  readonly limit: number
  readonly windowMs: number | null
  readonly proposed: number
}

/**
 * Proposes numbers for the limits that denied some clients: at least what each of them asked for in a window,
 * rounded up. If none of them was denied, proposes to double all limits.
 */
export function proposeRaise(known: KnownDemand, targets: readonly Target[]): readonly Raise[] {
  const clients = clientsAmong(known.denied, targets)
  const names = new Set(clients.map(({ limitName }) => limitName))
  const limits = largestOfEachName(known.limits.filter(({ isLocal }) => !isLocal))
  const denying = limits.filter(({ name }) => names.has(name))
  return (denying.length > 0 ? denying : limits).map(({ name, limit, windowMs }) => {
    const own = clients.filter(({ limitName }) => limitName === name)
    const identities = new Set(own.map(({ identity }) => identity))
    const peaks = demandsOf(known.demands, name).filter(({ identity }) => identities.has(identity))
    const asked = Math.max(
      ...own.map((client) => limit + deniedInWindow(client, windowMs)),
      ...peaks.map(({ peak }) => peak),
      own.length === 0 ? 2 * limit : limit + 1,
    )
    return { limitName: name, limit, windowMs, proposed: roundUp(asked) }
  })
}

/**
 * Returns how often a client would be denied in a window if it goes on: as long as it has been denied so far, but at
 * least a minute.
 */
function deniedInWindow(
  { denied, deniedPerSecond, firstDeniedMs, lastDeniedMs }: ShownClient,
  windowMs: number | null,
): number {
  if (windowMs === null) return denied
  const spanMs = Math.max(LEAST_SPAN_MS, lastDeniedMs - firstDeniedMs)
  return (deniedPerSecond * Math.min(windowMs, spanMs)) / 1000
}

/** A policy function may return several limits of one name. */
function largestOfEachName(limits: readonly LimitRow[]): readonly LimitRow[] {
  const byName = new Map<string, LimitRow>()
  for (const row of limits) if (row.limit > (byName.get(row.name)?.limit ?? 0)) byName.set(row.name, row)
  return Array.from(byName.values())
}

/** Returns what the clients of a limit asked for, under all numbers that it has had. */
function demandsOf(demands: readonly LimitDemand[], name: string): readonly ClientDemand[] {
  return demands.filter(({ limitName }) => limitName === name).flatMap((each) => each.demands)
}
