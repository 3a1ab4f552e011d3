import { duration } from './format.js'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const LENGTHS = [
  ['10 minutes', 600_000],
  ['1 hour', HOUR_MS],
  ['1 day', DAY_MS],
  ['7 days', 7 * DAY_MS],
]

/** How an application gets what needs settings. */
const NO_SETTINGS =
  "To exempt clients, raise limits or block networks, add settings: sharedSettings(store) to the limiter's options."

/** An overload guard denies what there is no place for. */
const FULL =
  'An overload guard keeps no account of clients, so none can be released. Its option priority says who goes first.'

/**
 * Returns what can be done in a limiter to clients, or to networks: by its settings, otherwise by its bans. `why`
 * says what cannot be done, and how to get it.
 */
export function waysOf({ hasSettings, longestBlockMs, isOverloadGuard }, isNetwork) {
  if (isOverloadGuard) return { effects: [], why: FULL }
  if (hasSettings) return { effects: ['release', 'block', 'exempt', 'raise'], why: '' }
  if (longestBlockMs === 0)
    return {
      effects: ['release'],
      why: `This limiter has no ban, so it cannot block clients. ${NO_SETTINGS}`,
    }
  return { effects: isNetwork ? ['release'] : ['release', 'block'], why: NO_SETTINGS }
}

/** Returns for how long: names, and milliseconds or `null` for no end. The longest ban of a limiter is the most. */
export function lengthsIn({ hasSettings, longestBlockMs }) {
  if (hasSettings) return [...LENGTHS, ['indefinitely', null]]
  const shorter = LENGTHS.filter(([, ms]) => ms < longestBlockMs)
  const [longest] = LENGTHS.filter(([, ms]) => ms === longestBlockMs)
  return [...shorter, longest ?? [duration(longestBlockMs), longestBlockMs]]
}
