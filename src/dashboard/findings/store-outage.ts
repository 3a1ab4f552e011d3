import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding, ShownOutage } from '../figures/shown.js'
import { counted, listText, NO_TARGETS, timeMark } from './words.js'

/** The store does not decide: since when, and what requests get instead. */
export function storeOutage({ name, outage }: FindingFigures): Finding | undefined {
  if (outage === undefined) return undefined
  return outageFinding(outage, outage.effects.find(({ limiter }) => limiter === name)?.text ?? '')
}

/** Returns the finding about a store that does not reply, or too late, with what requests get meanwhile. */
export function outageFinding(outage: ShownOutage, effect: string): Finding {
  const { store, servers, sinceMs } = outage
  const who = servers.length === 0 ? store : `${store} (${listText(servers, 'server')})`
  const details = [effect, decisionsText(outage)].filter((text) => text !== '')
  const rest = details.length > 0 ? `: ${details.join(', ')}` : ''
  return {
    kind: 'store-outage',
    level: 'critical',
    sentence: `${who} ${verbText(outage)} since ${timeMark(sinceMs)}${rest}`,
    sinceMs,
    ...NO_TARGETS,
  }
}

/** Returns what the store does: its network and its server work if replies come late. */
function verbText(outage: ShownOutage): string {
  const { late } = outage
  const isNamed = isOfSome(outage) && outage.process !== undefined
  if (late === undefined) return `has not replied${toText(outage)}${isNamed ? ',' : ''}`
  const [after, most] = [late.afterMs, late.limitMs].map(waitText)
  return `has replied too late${toText(outage)} (after ${after}; the timeout is ${most})`
}

/** Returns a time that somebody waits: in ms, or in seconds from the first on. */
function waitText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Returns which process the store does not reply to, or how many, if it replies to others. */
function toText(outage: ShownOutage): string {
  const { process, processes, reporting = processes } = outage
  if (!isOfSome(outage)) return ''
  const name = process === undefined ? '' : `${process}, `
  return ` to ${name}${processes} of ${counted(reporting, 'process', 'processes')}`
}

const isOfSome = ({ processes, reporting = processes }: ShownOutage) => processes < reporting

/** Returns how many decisions were made without the store, as far as this process knows. */
function decisionsText({ decisions, processes, reporting }: ShownOutage): string {
  if (decisions === 0) return ''
  const made = `${counted(decisions, 'decision')} without it`
  return reporting === undefined && processes === 1 ? `${made} in this process` : made
}
