import { deniedShareOf } from '../figures/denied-share.js'
import type { FindingFigures } from '../figures/finding-figures.js'
import { changeText, mayExplain } from './limits-change.js'
import { denialNoun, percentText, rateText, routeText, timeMark } from './words.js'

/** Returns since when clients are denied, how often, where, and after which change of the limits. */
export function denialText(figures: FindingFigures, sinceMs: number): string {
  const { allowedPerSecond, deniedPerSecond, mode, routes, change } = figures
  const rate = rateText(deniedPerSecond, denialNoun(mode))
  const share = percentText(deniedShareOf(allowedPerSecond, deniedPerSecond))
  const often = deniedPerSecond === 0 ? '' : `: ${rate}, ${share} of requests${besidesText(figures)}` // not yet in the rates
  const after = change === undefined || !mayExplain(change, sinceMs) ? '' : `; ${changeText(change)}`
  return `since ${timeMark(sinceMs)}${often}${routeText(routes)}${after}`
}

/** Returns which requests a share does not include. */
export function besidesText({ blockedPerSecond }: FindingFigures): string {
  return blockedPerSecond === 0 ? '' : ` besides ${rateText(blockedPerSecond, 'blocked one')}`
}
