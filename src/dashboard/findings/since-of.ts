import type { FindingFigures } from '../figures/finding-figures.js'
import type { ShownClient } from '../figures/shown.js'

/** The share of all denials with which clients make the figures of their limiter what they are. */
const MOST = 0.8

/**
 * Returns since when some clients are denied: since the first denial of one of them, or, if most denials are theirs,
 * since all denials have been about as frequent as now, since a denial now and then is no incident.
 */
export function sinceOf(
  { nowMs, denied, deniedSinceMs = nowMs }: FindingFigures,
  clients: readonly ShownClient[],
): number {
  const firstMs = Math.min(...clients.map(({ firstDeniedMs }) => firstDeniedMs))
  const deniedThere = clients.reduce((sum, client) => sum + client.denied, 0)
  return deniedThere >= MOST * denied ? Math.max(firstMs, deniedSinceMs) : firstMs
}
