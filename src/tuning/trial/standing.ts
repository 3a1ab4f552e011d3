import type { ClientDemand, LimitDemand } from '../client-demand.js'
import { divide } from '../crowd.js'
import { clientsIn, sortByPeak } from '../peaks.js'
import { newlyDeniedBy } from '../propose.js'
import type { Standing, TrialFigures, TrialPlan } from './trial.js'

const MAX_IDENTITIES = 50
/** How many clients are remembered as in good standing: those nearest to the limit, which it would deny first. */
const MAX_KNOWN = 200

/**
 * Returns whom a candidate newly denied while it ran: by its own decisions in all processes if those are known,
 * and otherwise as estimated from what clients demanded.
 */
export function watchedFigures(
  demand: LimitDemand,
  candidate: LimitDemand | undefined,
  { limit }: TrialPlan,
): TrialFigures {
  const inForce = sortByPeak(demand.demands)
  if (candidate === undefined)
    return { ...figuresOf(demand.clients, newlyDeniedBy(inForce, limit)), from: 'demands' }
  const deniedBefore = new Set(inForce.filter(({ wasDenied }) => wasDenied).map(({ identity }) => identity))
  const denied = sortByPeak(candidate.demands).filter(
    ({ identity, wasDenied }) => wasDenied && !deniedBefore.has(identity),
  )
  return { ...figuresOf(candidate.clients, denied), from: 'decisions' }
}

/** Returns who is in good standing before a promotion, and how many of them are denied nevertheless. */
export function standingBefore(demand: LimitDemand, plan: TrialPlan): Standing {
  const good = goodStanding(demand, plan, new Set())
  const known = good.slice(-MAX_KNOWN).map(({ identity }) => identity)
  return { ...harmOf(good), known }
}

/**
 * Returns what a promoted limit does to clients in good standing: those that were not set apart from the
 * crowd before the trial, and either were known before or are not apart now. So an attack that begins after
 * the promotion does not revert the limit, and a customer that is denied and retries in a loop does.
 */
export function standingSince(demand: LimitDemand, plan: TrialPlan, before: Standing): TrialFigures {
  return harmOf(goodStanding(demand, plan, new Set(before.known)))
}

/** Returns by how much the share of denied clients in good standing has risen. */
export function harmedShare(before: TrialFigures, since: TrialFigures): number {
  return shareOf(since) - shareOf(before)
}

function goodStanding(
  { demands }: LimitDemand,
  { apart, apartFrom = Number.POSITIVE_INFINITY }: TrialPlan,
  known: ReadonlySet<string>,
): readonly ClientDemand[] {
  const sorted = sortByPeak(demands)
  const bad = new Set(apart)
  const crowd = new Set(divide(sorted).crowd)
  return sorted.filter((client) => {
    const { identity, peak } = client
    return !bad.has(identity) && (known.has(identity) || (crowd.has(client) && peak < apartFrom))
  })
}

function harmOf(good: readonly ClientDemand[]): TrialFigures {
  return figuresOf(
    Math.round(clientsIn(good)),
    good.filter(({ wasDenied }) => wasDenied),
  )
}

function figuresOf(clients: number, denied: readonly ClientDemand[]): TrialFigures {
  const largest = denied.slice(-MAX_IDENTITIES).reverse()
  return {
    clients,
    denied: Math.round(clientsIn(denied)),
    identities: largest.map(({ identity }) => identity),
  }
}

/** Returns the share of clients that are denied. */
export function shareOf({ clients, denied }: TrialFigures): number {
  return clients === 0 ? 0 : denied / clients
}
