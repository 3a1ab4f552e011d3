import { FEW_NETWORKS } from '../figures/denied-client.js'
import { counted, listText } from './words.js'

/** More networks than these act together only if each has many addresses. Other clients are in many networks by chance. */
const VERY_FEW_NETWORKS = 3
const MANY_ADDRESSES = 5
/** The share of all denials that they must have. */
const MOST = 0.8
/** A network with less than this share of what the first one has is no part of them. */
const SIMILAR = 0.5

/**
 * Returns the first networks that have most of some denials together, and those that are denied about as often: blocking
 * them ends most of what is wrong. None if they are not few, since then a choice of them would be arbitrary.
 */
export function fewNetworks<N extends { readonly denied: number }>(
  networks: readonly N[],
  denied: number,
  addressesIn: (few: readonly N[]) => number,
): readonly N[] {
  const [first] = networks
  const few: N[] = []
  let sum = 0
  for (const network of networks) {
    const isSimilar = network.denied >= SIMILAR * (first?.denied ?? 0)
    if (sum >= denied || (sum >= MOST * denied && !isSimilar)) break
    few.push(network)
    sum += network.denied
  }
  if (sum < MOST * denied || few.length > FEW_NETWORKS) return []
  return few.length <= VERY_FEW_NETWORKS || addressesIn(few) >= MANY_ADDRESSES * few.length ? few : []
}

/** Returns where addresses are: in the few networks that are named, or in how many. */
export function placesText(
  addresses: number,
  networkCount: number,
  few: readonly { readonly network: string }[] = [],
): string {
  const networks =
    few.length > 0
      ? listText(
          few.map(({ network }) => network),
          'network',
        )
      : counted(Math.min(networkCount, addresses), 'network')
  return `${counted(addresses, 'address', 'addresses')} in ${networks}`
}
