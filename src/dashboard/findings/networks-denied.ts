import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding } from '../figures/shown.js'
import { counted, denialNoun, listText, percentText, rateText, routeText, timeMark } from './words.js'

/** So few networks, with so many addresses, act together. */
const FEW_NETWORKS = 3
const MANY_ADDRESSES = 5
/** The share of all denials that they must have. */
const MOST = 0.8

/** Many addresses of one network, or of a few: a scraper, or an office behind several addresses. */
export function networksDenied(figures: FindingFigures): Finding | undefined {
  const { denied, deniedClients, deniedSinceMs = figures.nowMs, mode, networks, routes } = figures
  const few = fewestWith(MOST * denied, networks.slice(0, FEW_NETWORKS))
  const addresses = few.reduce((sum, network) => sum + network.addresses, 0)
  if (few.length === 0 || addresses < MANY_ADDRESSES || deniedClients < MANY_ADDRESSES) return undefined
  const { allowedPerSecond, deniedPerSecond } = figures
  const share = percentText(deniedPerSecond / (allowedPerSecond + deniedPerSecond))
  const names = few.map(({ network }) => network)
  const whom = `${counted(addresses, 'address', 'addresses')} in ${listText(names, 'network')}`
  const verb = mode === 'report' ? 'have been over their limit' : 'have been denied'
  const rate = `${rateText(deniedPerSecond, denialNoun(figures.mode))}, ${share} of all requests`
  return {
    kind: 'network-denied',
    level: mode === 'report' ? 'warning' : 'critical',
    sentence: `${whom} ${verb} since ${timeMark(deniedSinceMs)}: ${rate}${routeText(routes)}`,
    sinceMs: deniedSinceMs,
    identities: figures.clients.map(({ identity }) => identity),
    networks: names,
    routes: routes.map(({ route }) => route),
  }
}

/** Returns the first networks that have at least `most` denials together; none if all of them have fewer. */
function fewestWith(most: number, networks: FindingFigures['networks']): FindingFigures['networks'] {
  let sum = 0
  const end = networks.findIndex(({ denied }) => {
    sum += denied
    return sum >= most
  })
  return networks.slice(0, end + 1)
}
