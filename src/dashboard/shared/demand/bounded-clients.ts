import { IN_FORCE } from '../../../tuning/demand-curve.js'
import { nameHash } from '../../../util/distinct-names.js'
import {
  type CountedClient,
  type LimiterDemands,
  type LimitPeriods,
  MAX_LARGEST,
  type Period,
} from './demand-document.js'

/** Keeps the clients with the largest peaks, the largest first, and a bounded sample of all. */
export function boundedClients(
  clients: readonly CountedClient[],
  below: number,
  maxSample: number,
): Pick<Period, 'below' | 'clients'> {
  const byPeak = [...clients].sort((a, b) => peakOf(b) - peakOf(a))
  const sample = clients
    .map((client) => ({ client, hash: nameHash(client.identity) }))
    .filter(({ hash }) => hash < below)
    .sort((a, b) => a.hash - b.hash)
  const kept = new Set([
    ...byPeak.slice(0, MAX_LARGEST),
    ...sample.slice(0, maxSample).map(({ client }) => client),
  ])
  return { below: sample[maxSample]?.hash ?? below, clients: byPeak.filter((client) => kept.has(client)) }
}

/** Makes the samples of limits smaller. */
export function withSamples(limits: readonly LimitPeriods[], maxSample: number): readonly LimitPeriods[] {
  return limits.map((limit) => ({
    ...limit,
    periods: limit.periods.map((each) => ({
      ...each,
      ...boundedClients(each.clients, each.below, maxSample),
    })),
  }))
}

/** Halves the samples, or leaves out a limit once there are none: identities of several keys are long. */
export function smallerDemands({ added, limits }: LimiterDemands): LimiterDemands {
  const most = Math.max(...limits.flatMap(({ periods }) => periods.map(({ clients }) => clients.length)))
  if (most <= MAX_LARGEST) return { added, limits: limits.slice(0, -1) }
  return { added, limits: withSamples(limits, Math.floor((most - MAX_LARGEST) / 2)) }
}

/** Returns the peak at the rate in force. One that is not known is the largest. */
function peakOf({ peaks }: CountedClient): number {
  return Math.min(peaks[IN_FORCE] ?? peaks[0] ?? 0, Number.MAX_VALUE)
}
