import { duration } from './format.js'

const DURATIONS = [
  ['10 minutes', 600_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
]

/** Returns for how long a client can be blocked: names and milliseconds. The longest ban of a limiter is the most. */
export function blockDurations(longestMs = Number.POSITIVE_INFINITY) {
  const choices = DURATIONS.filter(([, ms]) => ms <= longestMs)
  return choices.length === 0 && longestMs > 0 ? [[duration(longestMs), longestMs]] : choices
}
