import { policyFromSpec } from '../../../policies/policy-from-spec.js'
import type { ClientDemand, LimitDemand } from '../../../tuning/client-demand.js'
import { largestOf, smallestLimit } from '../../../tuning/demand-curve.js'
import { distinctIn, mergeSamples } from '../../../util/distinct-sample.js'
import { STEP_MS } from '../steps.js'
import { boundedClients } from './bounded-clients.js'
import {
  HASHES,
  type LimiterDemands,
  type LimitPeriods,
  MAX_LARGEST,
  MAX_SAMPLE,
  type Period,
} from './demand-document.js'

/** Returns what the clients of each limit asked for. */
export function demandsOf({ limits }: LimiterDemands): readonly LimitDemand[] {
  return limits.map(limitDemand)
}

function limitDemand(of: LimitPeriods): LimitDemand {
  const { limitName, isCandidate, policy: spec, fromMs, lastStep, periods } = of
  const [latest, ...others] = periods
  const merged = latest && others.reduce(mergePeriods, latest)
  const { limit, windowMs } = policyFromSpec(spec)
  return {
    ...{ limitName, policy: spec, limit, windowMs, fromMs },
    ...(isCandidate && { isCandidate }),
    toMs: (lastStep + 1) * STEP_MS,
    clients: merged === undefined ? 0 : distinctIn(merged.all),
    demands: merged === undefined ? [] : withWeights(merged, limit),
  }
}

function mergePeriods(a: Period, b: Period): Period {
  const byIdentity = new Map(a.clients.map((client) => [client.identity, client]))
  for (const client of b.clients) {
    const other = byIdentity.get(client.identity)
    byIdentity.set(client.identity, {
      ...client,
      peaks: other === undefined ? client.peaks : largestOf(client.peaks, other.peaks),
      wasDenied: client.wasDenied || other?.wasDenied === true,
    })
  }
  const bounded = boundedClients([...byIdentity.values()], Math.min(a.below, b.below), MAX_SAMPLE)
  return { ...a, all: mergeSamples([a.all, b.all], MAX_SAMPLE), ...bounded }
}

/** The largest stand for themselves, and the sample for all others. */
function withWeights({ below, clients }: Period, limit: number): readonly ClientDemand[] {
  return clients.map(({ identity, peaks, wasDenied }, i) => {
    const weight = i < MAX_LARGEST ? 1 : HASHES / below
    return { identity, peak: smallestLimit(peaks, limit), peaks, weight, wasDenied }
  })
}
