import type { ClientDemand, LimitDemand } from './client-demand.js'
import { divide } from './crowd.js'
import { quantilesOf, sortByPeak } from './peaks.js'
import { type ClientGroup, FEW_CLIENTS, groupOf, type Proposal, SHORT_MS, type Verdict } from './proposal.js'
import { cautionsOf, reasonOf, type Untold } from './reasons.js'
import { suitableLimit } from './suitable-limit.js'

/** A limit in force stays, unless it is more than this many times what would be proposed. */
const TOO_WIDE = 2

/**
 * Proposes a limit that no client of the crowd meets, from what clients demanded, allowed or not. It raises
 * a limit in force only for clients of the crowd, and lowers it only if it is far above all of them.
 */
export function propose(demand: LimitDemand): Proposal {
  const untold = untoldProposal(demand, sortByPeak(demand.demands))
  const cautions = untold.limit === undefined ? [] : cautionsOf(untold)
  return { ...untold, reason: reasonOf(untold), cautions }
}

function untoldProposal(demand: LimitDemand, sorted: readonly ClientDemand[]): Untold {
  const { limitName, windowMs, fromMs, toMs, limit: inForce } = demand
  const clients = sorted.length === 0 ? 0 : Math.max(demand.clients, 1)
  const about = {
    ...{ limitName, windowMs, fromMs, toMs, clients },
    ...(inForce !== undefined && { inForce }),
    quantiles: quantilesOf(sorted),
  }
  const parts = divide(sorted)
  const crowd = groupOf(parts.crowd)
  if (crowd === undefined) return { ...about, verdict: 'unknown' }

  const isGuess = clients < FEW_CLIENTS || toMs - fromMs < SHORT_MS
  const apart = groupOf(parts.apart)
  const suitable = suitableLimit(crowd, apart, isGuess)
  const verdict = verdictOf(crowd, suitable, inForce)
  const limit = verdict === 'keep' && inForce !== undefined ? inForce : suitable
  const upper = groupOf(parts.upper)
  const lower = groupOf(parts.crowd.slice(0, parts.crowd.length - parts.upper.length))
  const newlyDenied = verdict === 'keep' ? undefined : groupOf(newlyDeniedBy(sorted, limit))
  return {
    ...about,
    ...{ verdict, limit, crowd },
    ...(apart && parts.because && { apart: { ...apart, because: parts.because } }),
    ...(upper && lower && { upper: { ...upper, lowerLimit: suitableLimit(lower, upper, isGuess) } }),
    ...(newlyDenied && { newlyDenied }),
  }
}

/** Returns the clients that a limit would deny and the limit in force did not, of sorted demands. */
export function newlyDeniedBy(sorted: readonly ClientDemand[], limit: number): readonly ClientDemand[] {
  return sorted.filter(({ peak, wasDenied }) => peak > limit && !wasDenied)
}

function verdictOf({ denied }: ClientGroup, suitable: number, inForce: number | undefined): Verdict {
  if (inForce === undefined) return 'set'
  if (denied > 0 && suitable > inForce) return 'raise'
  return denied === 0 && inForce > TOO_WIDE * suitable ? 'lower' : 'keep'
}
