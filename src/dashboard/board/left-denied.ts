import { nameHash } from '../../util/distinct-names.js'
import {
  DistinctCounter,
  type DistinctSample,
  distinctIn,
  mergeSamples,
  NO_NAMES,
  withoutNames,
} from '../../util/distinct-sample.js'
import { type Counts, sumCounts } from '../figures/counts.js'
import type { DenialFigures, DeniedRow } from '../figures/report.js'

/** The most names in the samples of some clients together. */
const MAX_NAMES = 1000

/**
 * Returns what clients are denied that are not blocked, listed or not: all denials without those of the blocked ones, but
 * at least those of the `others` that are listed. Clients may have been denied for longer than all denials are counted.
 */
export function leftDenied(
  denials: DenialFigures,
  blocked: readonly DeniedRow[],
  others: readonly DeniedRow[],
) {
  const networksOf = (clients: readonly DeniedRow[]) => sumCounts(clients.map(({ networks }) => networks))
  const routesOf = (clients: readonly DeniedRow[]) => sumCounts(clients.map(({ routes }) => routes))
  const allNetworks = denials.networks.map(({ network, denied }) => [network, denied] as const)
  const networks = leftOf(allNetworks, networksOf(blocked), networksOf(others))
  const left = new Set(networks.map(([network]) => network))
  const emptied = networksOf(blocked).flatMap(([network]) => (left.has(network) ? [] : [network]))
  const gone = withoutNames(addressesOf(blocked), addressesOf(others))
  const samples = new Map(denials.networks.map(({ network, addresses }) => [network, addresses]))
  return {
    deniedClients: Math.max(others.length, distinctIn(denials.clients) - blocked.length),
    denied: Math.max(sumOf(others), denials.denied - sumOf(blocked)),
    addresses: atLeast(addressesOf(others), withoutNames(denials.addresses, gone)),
    networkCount: atLeast(sampleOf([...left]), withoutNames(denials.networkNames, sampleOf(emptied))),
    networks: networks.map(([network, denied]) => {
      const there = others.filter((client) => client.networks.some(([name]) => name === network))
      const rest = withoutNames(samples.get(network) ?? NO_NAMES, gone)
      return { network, denied, addresses: atLeast(addressesOf(there), rest) }
    }),
    routes: leftOf(denials.routes, routesOf(blocked), routesOf(others)).map(([route, denied]) => ({
      route,
      denied,
    })),
  }
}

/** Takes counts off others, but leaves at least those of `least`. */
function leftOf(all: Counts, taken: Counts, least: Counts): Counts {
  const [takenBy, leastBy] = [new Map(taken), new Map(least)]
  const names = new Set([...all, ...least].map(([name]) => name))
  const allBy = new Map(all)
  return Array.from(names, (name) => {
    const left = (allBy.get(name) ?? 0) - (takenBy.get(name) ?? 0)
    return [name, Math.max(leastBy.get(name) ?? 0, left)] as const
  })
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
}

function sumOf(clients: readonly DeniedRow[]): number {
  return clients.reduce((sum, { denied }) => sum + denied, 0)
}

function addressesOf(clients: readonly DeniedRow[]): DistinctSample {
  return mergeSamples([NO_NAMES, ...clients.map(({ addresses }) => addresses)], MAX_NAMES)
}

function sampleOf(names: readonly string[]): DistinctSample {
  const sample = new DistinctCounter(MAX_NAMES)
  for (const name of names) sample.addHash(nameHash(name))
  return sample
}

function atLeast(least: DistinctSample, sample: DistinctSample): number {
  return Math.max(distinctIn(least), distinctIn(sample))
}
