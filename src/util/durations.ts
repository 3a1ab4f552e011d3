import ms from 'ms'
import { wrongOption } from './validate.js'

/** A length of time: milliseconds, or a string that the `ms` package reads (`'10s'`, `'5 minutes'`, `'1.5h'`). */
export type Duration = number | string

/** Ten years. Beyond it, timestamps in double precision lose the grid that makes token buckets exact. */
export const MAX_DURATION_MS = 10 * 365.25 * 24 * 3600 * 1000

/**
 * Reads a duration as whole milliseconds, from 1 ms to 10 years.
 * Throws a `TypeError` that names the option, shows the value and suggests the mend.
 */
export function durationMs(owner: string, option: string, value: unknown): number {
  const parsed = typeof value === 'string' ? parse(value) : value
  if (typeof parsed === 'number' && Number.isInteger(parsed) && parsed >= 1 && parsed <= MAX_DURATION_MS)
    return parsed
  const must =
    "a duration of 1 ms to 10 years in whole milliseconds, or a string such as '10s' or '5 minutes'"
  throw wrongOption(owner, option, must, value, `Did you mean ${option}: '1m'?`)
}

/** Numbers below it are taken for seconds that somebody counted. */
const LEAST_PLAIN_MS = 1000

/**
 * Reads the length of a window, as `durationMs` does, but rejects numbers below 1,000, and all numbers in
 * strings: some packages count seconds, and 60 of them must not become a window of 60 ms.
 */
export function windowMs(owner: string, option: string, value: unknown): number {
  const lengthMs = durationMs(owner, option, value)
  const hasUnit = typeof value === 'string' && /[a-z]/i.test(value)
  if (hasUnit || (typeof value === 'number' && value >= LEAST_PLAIN_MS)) return lengthMs
  const must = 'a string with its unit, or at least 1000 milliseconds'
  throw wrongOption(owner, option, must, value, bothReadings(lengthMs))
}

/** Both readings of a number without a unit, the likelier one first. */
function bothReadings(value: number): string {
  const seconds = value * 1000 > MAX_DURATION_MS ? undefined : durationText(value * 1000)
  if (value < LEAST_PLAIN_MS) return `Write '${seconds}', or '${value}ms' if that is meant.`
  const other = seconds === undefined ? '' : `, or '${seconds}' if seconds are meant`
  return `Write '${durationText(value)}'${other}.`
}

/** The shortest exact spelling of a duration that an option takes: 60000 is `1m`, 1500 is `1500ms`. */
export function durationText(lengthMs: number): string {
  return shortDuration(lengthMs).replace('min', 'm')
}

function parse(value: string): number | undefined {
  try {
    return ms(value as ms.StringValue)
  } catch {
    return undefined // ms 2.1 throws for an empty string and for one of more than 100 characters
  }
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** The shortest exact spelling of a duration, for default policy names: 60000 is `1min`, 1500 is `1500ms`. */
export function shortDuration(durationMs: number): string {
  const unit = UNITS.find(([sizeMs]) => durationMs % sizeMs === 0)
  return unit ? `${durationMs / unit[0]}${unit[1]}` : `${durationMs}ms`
}

const WORDS: readonly (readonly [number, string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
  [1, 'millisecond'],
]

/** A duration in words, exactly to the millisecond: 5400000 is `1 hour 30 minutes`. */
export function durationInWords(durationMs: number): string {
  if (durationMs < 1) return `${durationMs} milliseconds`
  let restMs = Math.round(durationMs)
  const words: string[] = []
  for (const [sizeMs, name] of WORDS) {
    const count = Math.floor(restMs / sizeMs)
    restMs -= count * sizeMs
    if (count > 0) words.push(`${count} ${name}${count === 1 ? '' : 's'}`)
  }
  return words.join(' ')
}
