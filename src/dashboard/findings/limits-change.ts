import type { LimitsChange } from '../figures/finding-figures.js'
import { timeMark } from './words.js'

/** Clocks of processes may differ by this much. */
const CLOCKS_MS = 5000

/** Returns whether a change was in force when denials began, so that it may be why. */
export function mayExplain({ atMs, undoneMs = Infinity }: LimitsChange, sinceMs: number): boolean {
  return sinceMs - atMs > -CLOCKS_MS && sinceMs < undoneMs
}

/** Returns who changed the limits, how, and until when. */
export function changeText({ by = 'an operator', text, atMs, undoneMs }: LimitsChange): string {
  const end = undoneMs === undefined ? '' : `, until ${timeMark(undoneMs)}`
  return `${by} ${text} at ${timeMark(atMs)}${end}`
}

/** Returns since when no client is denied: since a change, and which. */
export function remedyText({ by = 'an operator', text, atMs }: LimitsChange): string {
  return `since ${timeMark(atMs)}, when ${by} ${text}`
}
