import type { ClientDemand } from './client-demand.js'

/** The shares of the clients whose peaks are at most a quantile. */
export const SHARES = [0.5, 0.9, 0.99, 0.999] as const

/** A peak above this is not a count of units. */
const MAX_PEAK = 1e12

/** A peak that a share of the clients does not exceed. */
export interface Quantile {
  readonly share: number
  readonly peak: number
}

/** Returns demands by their peaks, the smallest first. Leaves out peaks that are not a demand. */
export function sortByPeak(demands: readonly ClientDemand[]): readonly ClientDemand[] {
  const isDemand = ({ peak, weight }: ClientDemand) =>
    peak > 0 && peak <= MAX_PEAK && weight > 0 && Number.isFinite(weight)
  return demands.filter(isDemand).sort((a, b) => a.peak - b.peak)
}

/** Returns how many clients demands stand for. */
export function clientsIn(demands: readonly ClientDemand[]): number {
  return demands.reduce((sum, { weight }) => sum + weight, 0)
}

/** Returns quantiles of sorted demands, and the largest peak as that of share 1. None without demands. */
export function quantilesOf(sorted: readonly ClientDemand[]): readonly Quantile[] {
  const largest = sorted.at(-1)
  if (largest === undefined) return []
  const total = clientsIn(sorted)
  return [
    ...SHARES.map((share) => ({ share, peak: peakAt(sorted, share, total) })),
    { share: 1, peak: largest.peak },
  ]
}

/** Returns the smallest peak that a share of the clients does not exceed; 0 without demands. */
export function peakAt(sorted: readonly ClientDemand[], share: number, total = clientsIn(sorted)): number {
  let below = 0
  for (const { peak, weight } of sorted) {
    below += weight
    if (below >= share * total) return peak
  }
  return sorted.at(-1)?.peak ?? 0
}
