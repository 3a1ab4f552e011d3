import { IN_FORCE } from '../../../tuning/demand-curve.js'
import { nameHash } from '../../../util/distinct-names.js'
import { type CountedClient, MAX_LARGEST, type Period } from './demand-document.js'

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

/** Returns the peak at the rate in force. One that is not known is the largest. */
function peakOf({ peaks }: CountedClient): number {
  return Math.min(peaks[IN_FORCE] ?? peaks[0] ?? 0, Number.MAX_VALUE)
}
