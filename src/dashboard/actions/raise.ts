import type { ClientDemand, LimitDemand } from '../../tuning/client-demand.js'
import type { LimitRow } from '../figures/report.js'
import type { ShownClient } from '../figures/shown.js'
import type { Target } from './targets.js'

/** Round numbers of one power of ten, as people choose limits. */
const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

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
  const clients = known.denied.filter((client) => targets.some((target) => isMeant(client, target)))
  const names = new Set(clients.map(({ limitName }) => limitName))
  const limits = largestOfEachName(known.limits.filter(({ isLocal }) => !isLocal))
  const denying = limits.filter(({ name }) => names.has(name))
  return (denying.length > 0 ? denying : limits).map(({ name, limit, windowMs }) => {
    const own = clients.filter(({ limitName }) => limitName === name)
    const peaks = demandsOf(known.demands, name).filter(({ identity }) =>
      own.some((client) => client.identity === identity),
    )
    const asked = Math.max(
      ...own.map(({ deniedPerSecond, denied }) => {
        return limit + (windowMs === null ? denied : (deniedPerSecond * windowMs) / 1000)
      }),
      ...peaks.map(({ peak }) => peak),
      own.length === 0 ? 2 * limit : limit + 1,
    )
    return { limitName: name, limit, windowMs, proposed: roundUp(asked) }
  })
}

function isMeant({ identity, networks }: ShownClient, target: Target): boolean {
  const { storedIdentity = target.identity, network } = target
  return storedIdentity === identity || networks.some((each) => each.network === network)
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

/** Returns the smallest round number that is at least `least`: 37 becomes 40, and 1,300 becomes 1,500. */
export function roundUp(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  const step = STEPS.find((each) => Number.isInteger(each * power) && each * power >= least) ?? 10
  return step * power
}
