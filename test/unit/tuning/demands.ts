import type { ClientDemand, LimitDemand } from '../../../src/tuning/client-demand.js'

const DAY_MS = 86_400_000

/** Returns clients with these peaks. They are called by their place and their peak. */
export function clients(peaks: readonly number[], more: Partial<ClientDemand> = {}): ClientDemand[] {
  return peaks.map((peak, i) => ({ identity: `${i}-${peak}`, peak, weight: 1, wasDenied: false, ...more }))
}

/** Returns a number of clients whose peaks are even steps from one to another. */
export function between(count: number, least: number, most: number, more: Partial<ClientDemand> = {}) {
  const step = count === 1 ? 0 : (most - least) / (count - 1)
  return clients(
    Array.from({ length: count }, (_, i) => Math.round(least + i * step)),
    more,
  )
}

/** Returns the demand of clients over a day, in windows of a minute. */
export function demandOf(demands: readonly ClientDemand[], more: Partial<LimitDemand> = {}): LimitDemand {
  const total = demands.reduce((sum, { weight }) => sum + weight, 0)
  return { limitName: 'api', windowMs: 60_000, fromMs: 0, toMs: DAY_MS, clients: total, demands, ...more }
}
