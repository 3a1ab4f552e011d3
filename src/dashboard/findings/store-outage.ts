import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownOutage } from '../figures/shown.js'
import { counted, listText, timeMark } from './words.js'

/** The store does not decide: since when, and what requests get instead. */
export function storeOutage({ name, outage }: FindingFigures): Finding | undefined {
  if (outage === undefined) return undefined
  const effect = outage.effects.find(({ limiter }) => limiter === name)?.text ?? ''
  return {
    kind: 'store-outage',
    level: 'critical',
    sentence: outageSentence(outage, effect),
    sinceMs: outage.sinceMs,
    identities: [],
    networks: [],
    routes: [],
  }
}

/** Returns since when a store does not reply, with what requests get meanwhile. */
export function outageSentence(outage: ShownOutage, effect: string): string {
  const { store, servers, sinceMs, decisions } = outage
  const who = servers.length === 0 ? store : `${store} (${listText(servers, 'server')})`
  const details = [effect, decisions > 0 && `${counted(decisions, 'decision')} without it`].filter(Boolean)
  const rest = details.length > 0 ? `: ${details.join(', ')}` : ''
  return `${who} has not replied since ${timeMark(sinceMs)}${rest}`
}
