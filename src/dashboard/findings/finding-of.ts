import { deniedShareOf } from '../figures/denied-share.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import type { Finding } from '../figures/shown.js'
import { accountsAttacked } from './accounts-attacked.js'
import { fewDenied, manyDenied } from './clients-denied.js'
import { besidesText } from './denial-text.js'
import { mayExplain, remedyText } from './limits-change.js'
import { networksDenied } from './networks-denied.js'
import { overloaded } from './overloaded.js'
import { storeOutage } from './store-outage.js'
import { unknownDenied } from './unknown-denied.js'
import { counted, NO_TARGETS, percentText, rateText, timeMark } from './words.js'

/** Returns what is wrong with a limiter, if it is of one kind. */
export type FindingRule = (figures: FindingFigures) => Finding | undefined

/** From the most specific to the least: the first that applies says most of what an operator can do. */
const RULES: readonly FindingRule[] = [
  storeOutage,
  overloaded,
  unknownDenied,
  accountsAttacked,
  networksDenied,
  fewDenied,
  manyDenied,
]
/** Denials that begin within this time after a change of limits are its effect. */
const EFFECT_MS = 120_000

/** Denials are counted for this long. */
const COUNTED_MS = 900_000

/** Fewer denials than this, and at most this share of requests, are what a limit is for. */
const FEW = 5
const SMALL_SHARE = 0.01
/** A client denied this often does not stop at its denials, however much others send. */
const PERSISTENT_PER_SECOND = 1

/** Returns what is wrong with a limiter: what, whom, since when and why. Depends on the figures alone. */
export function findingOf(figures: FindingFigures): Finding {
  const finding = firstFinding(figures)
  if (figures.clients.every(({ label }) => label === undefined)) return finding
  const clients = figures.clients.map(({ label, ...client }) => client)
  const { sentence } = firstFinding({ ...figures, clients })
  return sentence === finding.sentence ? finding : { ...finding, reason: sentence }
}

function firstFinding(figures: FindingFigures): Finding {
  if (figures.outage === undefined && isUsual(figures)) return calm(figures)
  for (const rule of RULES) {
    const finding = rule(figures)
    if (finding !== undefined && !isExplained(finding, figures)) return finding
  }
  return calm(figures)
}

/** If denials began with a change of limits, a customer with many addresses does not attack. */
function isExplained({ kind, sinceMs = 0 }: Finding, { change }: FindingFigures): boolean {
  if (change === undefined || (kind !== 'account-attacked' && kind !== 'network-denied')) return false
  return mayExplain(change, sinceMs) && sinceMs - change.atMs < EFFECT_MS
}

function isUsual(figures: FindingFigures): boolean {
  const { clients, denied, deniedSinceMs, allowedPerSecond, deniedPerSecond } = figures
  if (deniedSinceMs === undefined || denied < FEW) return true
  if (clients.some((client) => client.deniedPerSecond >= PERSISTENT_PER_SECOND)) return false
  return deniedPerSecond <= SMALL_SHARE * (allowedPerSecond + deniedPerSecond)
}

function calm(figures: FindingFigures): Finding {
  return { kind: 'calm', level: 'calm', sentence: calmSentence(figures), ...NO_TARGETS }
}

function calmSentence(figures: FindingFigures): string {
  const { mode, denied, deniedClients, runSinceMs, allowedPerSecond, deniedPerSecond, blockedPerSecond } =
    figures
  const perSecond = allowedPerSecond + deniedPerSecond
  if (runSinceMs === undefined) {
    if (blockedPerSecond > 0)
      return `Only blocked requests are denied: ${rateText(blockedPerSecond, 'denial')}`
    if (figures.remedy !== undefined)
      return `No client has been ${mode === 'report' ? 'over its limit' : 'denied'} ${remedyText(figures.remedy)}`
    if (perSecond === 0) return 'No requests in the last minute'
    return `No client is ${mode === 'report' ? 'over its limit' : 'denied'}: ${rateText(perSecond, 'request')}`
  }
  const verb = mode === 'report' ? 'would have been denied' : 'denied'
  const share = percentText(deniedShareOf(allowedPerSecond, deniedPerSecond))
  const whom = deniedClients === 0 ? '' : ` from ${counted(deniedClients, 'client')}`
  const isWhole = figures.nowMs - runSinceMs < COUNTED_MS
  const when = isWhole ? `since ${timeMark(runSinceMs)}` : 'in the last 15 minutes'
  return `${counted(denied, 'request')}${whom} ${verb} ${when}: ${share} of requests${besidesText(figures)}`
}
