import type { FindingFigures, LimitsChange } from '../figures/finding-figures.js'
import { denialNoun, percentText, rateText, routeText, timeMark } from './words.js'

/** Returns since when clients are denied, how often, where, and after which change of the limits. */
export function denialText(figures: FindingFigures): string {
  const { allowedPerSecond, deniedPerSecond, deniedSinceMs = figures.nowMs, mode, routes, change } = figures
  const rate = rateText(deniedPerSecond, denialNoun(mode))
  const share = percentText(deniedPerSecond / (allowedPerSecond + deniedPerSecond))
  const often = deniedPerSecond === 0 ? '' : `: ${rate}, ${share} of all requests` // not yet in the rates
  const after = change === undefined ? '' : `; ${changeText(change)}`
  return `since ${timeMark(deniedSinceMs)}${often}${routeText(routes)}${after}`
}

/** Returns who changed the limits, and how. */
function changeText({ by = 'an operator', text, atMs }: LimitsChange): string {
  return `${by} ${text} at ${timeMark(atMs)}`
}
