import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownClient } from '../figures/shown.js'
import {
  clientText,
  counted,
  denialNoun,
  limitText,
  listText,
  percentText,
  rateText,
  routeText,
  timeMark,
} from './words.js'

/** So few clients are named one by one. */
const FEW = 3
/** The share of all denials that they must have. */
const MOST = 0.8

/** A few clients that are at their limit: their plan is too small, or one of them sends in a loop. */
export function fewDenied(figures: FindingFigures): Finding | undefined {
  const { clients, denied, deniedClients } = figures
  const few = clients.slice(0, FEW)
  const deniedThere = few.reduce((sum, client) => sum + client.denied, 0)
  const isAll = deniedClients <= FEW
  if (few.length === 0 || (!isAll && deniedThere < MOST * denied)) return undefined
  const main = isAll ? few : few.filter((client) => client.denied >= (denied * (1 - MOST)) / FEW)
  const verb = main.length === 1 ? 'has been at its limit' : 'have been at their limit'
  const whom = listText(main.map(clientText), 'client')
  return findingOn(figures, 'few-denied', main, `${whom} ${verb}${limitOf(figures, main)}${originOf(main)}`)
}

/** Many clients that have nothing in common, except perhaps the routes that they use. */
export function manyDenied(figures: FindingFigures): Finding | undefined {
  const { clients, deniedClients, mode } = figures
  if (deniedClients === 0) return undefined
  const verb = mode === 'report' ? 'have been over their limit' : 'have been denied'
  return findingOn(figures, 'many-denied', clients, `${counted(deniedClients, 'client')} ${verb}`)
}

function findingOn(
  figures: FindingFigures,
  kind: 'few-denied' | 'many-denied',
  clients: readonly ShownClient[],
  subject: string,
): Finding {
  const { allowedPerSecond, deniedPerSecond, deniedSinceMs = figures.nowMs } = figures
  const share = percentText(deniedPerSecond / (allowedPerSecond + deniedPerSecond))
  const rate = `${rateText(deniedPerSecond, denialNoun(figures.mode))}, ${share} of all requests`
  return {
    kind,
    level: 'warning',
    sentence: `${subject} since ${timeMark(deniedSinceMs)}: ${rate}${routeText(figures.routes)}`,
    sinceMs: deniedSinceMs,
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
