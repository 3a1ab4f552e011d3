import { baseOf, type PolicySpec, signatureOfSpec } from '../policies/spec.js'
import type { LimitDemand } from './client-demand.js'

/** A limit that applies to clients without an override. */
export interface LimitInForce {
  readonly name: string
  readonly limit: number
  readonly policy: PolicySpec
}

/**
 * Returns what clients asked each limit in force for. For a limit with unknown numbers, such as one that a
 * function returns, it takes the demands of most clients.
 */
export function demandsInForce(
  demands: readonly LimitDemand[],
  inForce: readonly LimitInForce[],
): readonly LimitDemand[] {
  const counted = withoutCandidates(demands)
  const names = new Set(counted.map(({ limitName }) => limitName))
  return Array.from(names).flatMap((name) => {
    const named = counted.filter(({ limitName }) => limitName === name)
    const known = inForce.filter((limit) => limit.name === name)
    if (known.length === 0) return named.sort((a, b) => b.clients - a.clients).slice(0, 1)
    const signatures = known.map(({ policy }) => signatureOfSpec(baseOf(policy)))
    return named.filter(({ policy }) => policy && signatures.includes(signatureOfSpec(policy)))
  })
}

/** Returns what clients asked limits for, without candidates. */
export function withoutCandidates(demands: readonly LimitDemand[]): readonly LimitDemand[] {
  return demands.filter(({ isCandidate }) => isCandidate === undefined)
}
