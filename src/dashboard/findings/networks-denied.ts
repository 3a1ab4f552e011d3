import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding } from '../figures/shown.js'
import { denialText } from './denial-text.js'
import { fewNetworks, placesText } from './few-networks.js'

/** This many addresses in a few networks act together. */
const MANY_ADDRESSES = 5

/** Many addresses of one network, or of a few: a scraper, or an office behind several addresses. */
export function networksDenied(figures: FindingFigures): Finding | undefined {
  const { denied, deniedClients, deniedSinceMs = figures.nowMs, mode, networks, routes } = figures
  const few = fewNetworks(networks, denied, addressesIn)
  const addresses = addressesIn(few)
  if (few.length === 0 || addresses < MANY_ADDRESSES || deniedClients < MANY_ADDRESSES) return undefined
  const verb = mode === 'report' ? 'have been over their limit' : 'have been denied'
  return {
    kind: 'network-denied',
    level: mode === 'report' ? 'warning' : 'critical',
    sentence: `${placesText(addresses, few.length, few)} ${verb} ${denialText(figures, deniedSinceMs)}`,
    sinceMs: deniedSinceMs,
    identities: figures.clients.map(({ identity }) => identity),
    networks: few.map(({ network }) => network),
    routes: routes.map(({ route }) => route),
  }
}

function addressesIn(networks: FindingFigures['networks']): number {
  return networks.reduce((sum, { addresses }) => sum + addresses, 0)
}
