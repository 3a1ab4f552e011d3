import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownClient } from '../figures/shown.js'
import { clientText, counted, listText, rateText, routeText, timeMark } from './words.js'

/** So many addresses behind one identity are neither one person with some devices nor the servers of a customer. */
const MANY_ADDRESSES = 10
/** The share of all denials that attacked identities must have for the sentence to be about them. */
const MOST = 0.5

/** Identities that many addresses stand behind, such as accounts whose passwords are guessed. */
export function accountsAttacked(figures: FindingFigures): Finding | undefined {
  const { clients, denied, deniedSinceMs = figures.nowMs, mode } = figures
  const attacked = clients.filter(({ addresses }) => addresses >= MANY_ADDRESSES)
  const deniedThere = sumOf(attacked)
  if (attacked.length === 0 || deniedThere < MOST * denied) return undefined
  const addresses = Math.max(...attacked.map((client) => client.addresses))
  const perSecond = attacked.reduce((sum, { deniedPerSecond }) => sum + deniedPerSecond, 0)
  const whom = listText(attacked.map(clientText), 'account')
  const verb = attacked.length === 1 ? 'is' : 'are'
  const rate = rateText(perSecond, mode === 'report' ? 'excess request' : 'denial')
  const each = attacked.length === 1 ? '' : ' each'
  const from = `from ${attacked.length === 1 ? '' : 'up to '}${counted(addresses, 'address', 'addresses')}${each}`
  const routes = summed(
    attacked.flatMap((client) => client.routes.map(({ route, denied }) => [route, denied] as const)),
  )
  const networks = summed(
    attacked.flatMap((client) => client.networks.map(({ network, denied }) => [network, denied] as const)),
  )
  return {
    kind: 'account-attacked',
    level: mode === 'report' ? 'warning' : 'critical',
    sentence: `${whom} ${verb} under attack since ${timeMark(deniedSinceMs)}: ${rate} ${from}${routeText(routes.map(([route, denied]) => ({ route, denied })))}`,
    sinceMs: deniedSinceMs,
    identities: attacked.map(({ identity }) => identity),
    networks: networks.map(([network]) => network),
    routes: routes.map(([route]) => route),
  }
}

function sumOf(clients: readonly ShownClient[]): number {
  return clients.reduce((sum, { denied }) => sum + denied, 0)
}

/** Adds up counts of the same name. The largest comes first. */
function summed(counts: readonly (readonly [name: string, count: number])[]) {
  const sums = new Map<string, number>()
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([, a], [, b]) => b - a)
}
