import { deniedShareOf, SEVERE_SHARE } from '../figures/denied-share.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownClient } from '../figures/shown.js'
import { denialText } from './denial-text.js'
import { placesText } from './few-networks.js'
import { sinceOf } from './since-of.js'
import { clientText, counted, FEW_CLIENTS, limitText, listText } from './words.js'

/** The share of all denials that the named clients must have. */
const MOST = 0.8

/** A few clients that are at their limit: their plan is too small, or one of them sends in a loop. */
export function fewDenied(figures: FindingFigures): Finding | undefined {
  const { clients, denied, deniedClients } = figures
  const few = clients.slice(0, FEW_CLIENTS)
  const deniedThere = few.reduce((sum, client) => sum + client.denied, 0)
  const isAll = deniedClients <= FEW_CLIENTS
  if (few.length === 0 || (!isAll && deniedThere < MOST * denied)) return undefined
  const most = isAll ? deniedThere : denied
  const main = few.filter((client) => client.denied >= (most * (1 - MOST)) / FEW_CLIENTS)
  const verb = main.length === 1 ? 'has been at its limit' : 'have been at their limit'
  const whom = listText(main.map(clientText), 'client')
  const subject = `${whom} ${verb}${limitOf(figures, main)}${originOf(main)}`
  return findingOn(figures, 'few-denied', main, subject, sinceOf(figures, main))
}

/** Many clients that have nothing in common, except perhaps the routes that they use. */
export function manyDenied(figures: FindingFigures): Finding | undefined {
  const { clients, deniedClients, mode } = figures
  if (deniedClients === 0) return undefined
  const are = deniedClients === 1 ? 'has been' : 'have been'
  const verb =
    mode === 'report' ? `${are} over ${deniedClients === 1 ? 'its' : 'their'} limit` : `${are} denied`
  const whom = `${counted(deniedClients, 'client')}${placesOf(figures)}`
  const finding = findingOn(figures, 'many-denied', clients, `${whom} ${verb}`)
  return isSevere(figures) ? { ...finding, level: 'critical' } : finding
}

function isSevere({ mode, deniedClients, allowedPerSecond, deniedPerSecond }: FindingFigures): boolean {
  const share = deniedShareOf(allowedPerSecond, deniedPerSecond)
  return mode !== 'report' && deniedClients > FEW_CLIENTS && share >= SEVERE_SHARE
}

/** Returns how many networks many clients are in, or where they send from, such as accounts that a botnet attacks. */
function placesOf({ addresses, networkCount, deniedClients }: FindingFigures): string {
  if (deniedClients === 1 || addresses < 2) return ''
  const networks = counted(Math.min(networkCount, addresses), 'network')
  return addresses === deniedClients ? ` in ${networks}` : ` from ${placesText(addresses, networkCount)}`
}

function findingOn(
  figures: FindingFigures,
  kind: 'few-denied' | 'many-denied',
  clients: readonly ShownClient[],
  subject: string,
  sinceMs = figures.deniedSinceMs ?? figures.nowMs,
): Finding {
  return {
    kind,
    level: 'warning',
    sentence: `${subject} ${denialText(figures, sinceMs)}`,
    sinceMs,
    identities: clients.map(({ identity }) => identity),
    networks: [],
    routes: figures.routes.map(({ route }) => route),
  }
}

/** Returns the limit that denied some clients, in words; '' if several did. */
function limitOf({ limits }: FindingFigures, clients: readonly ShownClient[]): string {
  const names = new Set(clients.map(({ limitName }) => limitName))
  const denying = limits.filter(({ name, denied, isLocal }) => names.has(name) && denied > 0 && !isLocal)
  const [limit] = denying
  return limit !== undefined && denying.length === 1 ? ` of ${limitText(limit)}` : ''
}

/** Returns how many addresses one client sends from; '' if it is one, or if there are several clients. */
function originOf([client, ...others]: readonly ShownClient[]): string {
  if (client === undefined || others.length > 0 || client.addresses < 2) return ''
  return `, from ${counted(client.addresses, 'address', 'addresses')},`
}
