import type { LimitDemand } from './client-demand.js'

/** A limit that applies to clients without an override. */
export interface LimitInForce {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/**
 * Returns what clients asked for of each limit in force. Of a limit whose numbers are not known, such as one
 * that a function returns, the demands of most clients.
 */
export function demandsInForce(
  demands: readonly LimitDemand[],
  inForce: readonly LimitInForce[],
): readonly LimitDemand[] {
  const names = new Set(demands.map(({ limitName }) => limitName))
  return Array.from(names).flatMap((name) => {
    const named = demands.filter(({ limitName }) => limitName === name)
    const known = inForce.filter((limit) => limit.name === name)
    if (known.length === 0) return named.sort((a, b) => b.clients - a.clients).slice(0, 1)
    return named.filter(({ limit, windowMs }) =>
      known.some((each) => each.limit === limit && each.windowMs === windowMs),
    )
  })
}
