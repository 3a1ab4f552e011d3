import { isNetwork } from '../../keys/address.js'
import { sumCounts } from '../figures/counts.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { LimitRow } from '../figures/report.js'
import type { Finding, ShownClient } from '../figures/shown.js'
import { fewNetworks, placesText } from './few-networks.js'
import { sinceOf } from './since-of.js'
import {
  clientText,
  counted,
  denialNoun,
  FEW_CLIENTS,
  listText,
  rateText,
  routeText,
  timeMark,
} from './words.js'

/** This many addresses behind one identity are not one person with several devices. */
const MANY_ADDRESSES = 10
/** Guessing is denied many times the limit. A customer whose plan is too small is not. */
const TIMES_LIMIT = 2
/** Within this time, if the window is longer: whoever has used up a long window is denied whatever it asks for. */
const LONGEST_MS = 300_000
/** These bound what an account does, not how often its password is guessed: each retry over them is a denial. */
const PLAN_KINDS: ReadonlySet<string> = new Set(['quota', 'concurrency'])
/** With a smaller share of all denials, what others do matters more. */
const SMALL_SHARE = 0.1
/** If this share of the listed clients is attacked, so are those that are not listed. */
const NEARLY_ALL = 0.8

/** Identities that many addresses stand behind, such as accounts whose passwords are guessed. */
export function accountsAttacked(figures: FindingFigures): Finding | undefined {
  const { denied, mode } = figures
  const attacked = figures.clients.filter((client) => isAttacked(client, figures))
  const deniedThere = sumOf(attacked)
  const count = countOf(attacked, figures)
  if (attacked.length === 0 || (deniedThere < SMALL_SHARE * denied && count === attacked.length))
    return undefined
  const routes = routesOf(attacked)
  const addresses = addressesOf(attacked, figures)
  const few = fewNetworks(networksOf(attacked), deniedThere, () => addresses)
  const there = addressesThere(addresses, few, figures)
  const whom = count > FEW_CLIENTS ? counted(count, 'account') : listText(attacked.map(clientText), 'account')
  const sinceMs = sinceOf(figures, attacked)
  const since = `${count === 1 ? 'has' : 'have'} been under attack since ${timeMark(sinceMs)}`
  const from = `from ${placesText(there, figures.networkCount, few)}`
  return {
    kind: 'account-attacked',
    level: mode === 'report' ? 'warning' : 'critical',
    sentence: `${whom} ${since}: ${rateOf(attacked, count, figures)} ${from}${routeText(routes)}`,
    sinceMs,
    identities: attacked.map(({ identity }) => identity),
    networks: few.map(({ network }) => network),
    routes: routes.map(({ route }) => route),
  }
}

/** Returns whether many addresses ask for many times what one identity may have. A network is not an account. */
function isAttacked(client: ShownClient, { limits }: FindingFigures): boolean {
  if (client.addresses < MANY_ADDRESSES || isNetwork(client.identity)) return false
  const own = limits.filter(({ name, isLocal }) => name === client.limitName && !isLocal)
  return own.every((limit) => isFarOver(client, limit))
}

function isFarOver({ deniedPerSecond }: ShownClient, { kind, limit, windowMs }: LimitRow): boolean {
  if (PLAN_KINDS.has(kind.replace(/^ban-/, ''))) return false
  const comparedMs = Math.min(windowMs ?? LONGEST_MS, LONGEST_MS)
  return (deniedPerSecond * comparedMs) / 1000 >= TIMES_LIMIT * limit
}

/** Returns how many accounts are attacked, listed or not. */
function countOf(attacked: readonly ShownClient[], { clients, deniedClients }: FindingFigures): number {
  const share = attacked.length / clients.length
  return deniedClients > clients.length && share >= NEARLY_ALL
    ? Math.round(share * deniedClients)
    : attacked.length
}

/** Returns how many addresses attack. The limiter's count is exact, but clients may share addresses. */
function addressesOf(attacked: readonly ShownClient[], { addresses }: FindingFigures): number {
  const largest = Math.max(...attacked.map((client) => client.addresses))
  return attacked.length === 1 ? largest : Math.max(largest, addresses)
}

/** Returns how many of some addresses may be in the few networks that are named: others may be behind other clients. */
function addressesThere(
  addresses: number,
  few: readonly { readonly network: string }[],
  figures: FindingFigures,
) {
  const counts = few.map(
    ({ network }) => figures.networks.find((each) => each.network === network)?.addresses,
  )
  if (counts.length === 0 || counts.includes(undefined)) return addresses
  return Math.min(
    addresses,
    counts.reduce<number>((sum, count = 0) => sum + count, 0),
  )
}

/**
 * Returns how often accounts are denied: their part of what the row of their limiter says, which is over a minute. That
 * is all of it if not all attacked accounts are listed.
 */
function rateOf(attacked: readonly ShownClient[], count: number, figures: FindingFigures): string {
  const { mode, deniedPerSecond, clients } = figures
  const all = perSecondOf(clients)
  const part = count > attacked.length || all === 0 ? 1 : perSecondOf(attacked) / all
  return rateText(part * deniedPerSecond, denialNoun(mode))
}

function perSecondOf(clients: readonly ShownClient[]): number {
  return clients.reduce((sum, client) => sum + client.deniedPerSecond, 0)
}

function sumOf(clients: readonly ShownClient[]): number {
  return clients.reduce((sum, { denied }) => sum + denied, 0)
}

function routesOf(clients: readonly ShownClient[]) {
  const counts = clients.map(({ routes }) => routes.map(({ route, denied }) => [route, denied] as const))
  return sumCounts(counts).map(([route, denied]) => ({ route, denied }))
}

function networksOf(clients: readonly ShownClient[]) {
  const counts = clients.map(({ networks }) =>
    networks.map(({ network, denied }) => [network, denied] as const),
  )
  return sumCounts(counts).map(([network, denied]) => ({ network, denied }))
}
