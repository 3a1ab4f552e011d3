import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownOutage } from '../figures/shown.js'
import { counted, listText, NO_TARGETS, timeMark } from './words.js'

/** The store does not decide: since when, and what requests get instead. */
export function storeOutage({ name, outage }: FindingFigures): Finding | undefined {
  if (outage === undefined) return undefined
  return outageFinding(outage, outage.effects.find(({ limiter }) => limiter === name)?.text ?? '')
}

/** Returns the finding about a store that does not reply, with what requests get meanwhile. */
export function outageFinding(outage: ShownOutage, effect: string): Finding {
  const { store, servers, sinceMs, decisions } = outage
  const who = servers.length === 0 ? store : `${store} (${listText(servers, 'server')})`
  const details = [effect, decisions > 0 && `${counted(decisions, 'decision')} without it`].filter(Boolean)
  const rest = details.length > 0 ? `: ${details.join(', ')}` : ''
  return {
    kind: 'store-outage',
    level: 'critical',
    sentence: `${who} has not replied since ${timeMark(sinceMs)}${rest}`,
    sinceMs,
    ...NO_TARGETS,
  }
}
