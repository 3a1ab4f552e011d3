import { counted, listText } from './words.js'

/** At most this many networks, with many addresses, act together. */
const FEW_NETWORKS = 3
/** The share of all denials that they must have. */
const MOST = 0.8

/**
 * Returns the first networks that have most of some denials together: blocking them ends most of what is wrong. None if
 * they are not few, since then a choice of them would be arbitrary.
 */
export function fewNetworks<N extends { readonly denied: number }>(
  networks: readonly N[],
  denied: number,
): readonly N[] {
  let sum = 0
  const end = networks.slice(0, FEW_NETWORKS).findIndex((network) => {
    sum += network.denied
    return sum >= MOST * denied
  })
  return networks.slice(0, end + 1)
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
