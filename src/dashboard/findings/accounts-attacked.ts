import { isNetwork } from '../../keys/address.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { LimitRow } from '../figures/report.js'
import type { Finding, ShownClient } from '../figures/shown.js'
import { clientText, counted, denialNoun, listText, rateText, routeText, timeMark } from './words.js'

/** So many addresses behind one identity are not one person with some devices. */
const MANY_ADDRESSES = 10
/** Guessing asks for many times the limit. A customer whose plan is too small does not. */
const TIMES_LIMIT = 3
/** The share of all denials that attacked identities must have for the sentence to be about them. */
const MOST = 0.5

/** Identities that many addresses stand behind, such as accounts whose passwords are guessed. */
export function accountsAttacked(figures: FindingFigures): Finding | undefined {
  const { clients, denied, deniedSinceMs = figures.nowMs, mode } = figures
  const attacked = clients.filter((client) => isAttacked(client, figures))
  const deniedThere = sumOf(attacked)
  if (attacked.length === 0 || deniedThere < MOST * denied) return undefined
  const addresses = Math.max(...attacked.map((client) => client.addresses))
  const perSecond = attacked.reduce((sum, { deniedPerSecond }) => sum + deniedPerSecond, 0)
  const whom = listText(attacked.map(clientText), 'account')
  const verb = attacked.length === 1 ? 'has' : 'have'
  const rate = rateText(perSecond, denialNoun(mode))
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
    sentence: `${whom} ${verb} been under attack since ${timeMark(deniedSinceMs)}: ${rate} ${from}${routeText(routes.map(([route, denied]) => ({ route, denied })))}`,
    sinceMs: deniedSinceMs,
    identities: attacked.map(({ identity }) => identity),
    networks: networks.map(([network]) => network),
    routes: routes.map(([route]) => route),
  }
}

/** Returns whether many addresses ask for many times what one identity may have. A network is not an account. */
function isAttacked(client: ShownClient, { limits }: FindingFigures): boolean {
  if (client.addresses < MANY_ADDRESSES || isNetwork(client.identity)) return false
  const own = limits.filter(({ name, isLocal }) => name === client.limitName && !isLocal)
  return client.deniedPerSecond >= (TIMES_LIMIT - 1) * Math.max(0, ...own.map(allowedPerSecond))
}

function allowedPerSecond({ limit, windowMs }: LimitRow): number {
  return windowMs === null ? 0 : (1000 * limit) / windowMs
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
