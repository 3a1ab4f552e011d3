import { wrongOption } from './validate.js'

/**
 * A length of time: a string of a number and its unit, such as `'10s'`, `'1.5h'` or `'5 minutes'`, or
 * milliseconds, at least 1000, because smaller numbers look like seconds.
 */
export type Duration = number | string

/** Ten years. Beyond it, timestamps in double precision lose the grid that makes token buckets exact. */
export const MAX_DURATION_MS = 10 * 365.25 * 24 * 3600 * 1000

/**
 * Returns a duration in whole milliseconds, from 1 ms to 10 years. `longest` is said in errors. Throws a `TypeError` with a fix, also for
 * numbers below 1,000 and strings without a unit: some packages count in seconds, and 60 of them must not
 * become 60 ms.
 */
export function durationMs(owner: string, option: string, value: unknown, longest = '10 years'): number {
  const parsed = typeof value === 'string' ? parse(value) : value
  if (!isLength(parsed)) {
    const must = `a duration from 1 ms to ${longest}: whole milliseconds, or a string such as '10s' or '5 minutes'`
    const example = longest === '10 years' ? '1m' : longest
    throw wrongOption(owner, option, must, value, `Did you mean ${option}: '${example}'?`)
  }
  const hasUnit = typeof value === 'string' && /[a-z]/i.test(value)
  if (hasUnit || (typeof value === 'number' && value >= 1000)) return parsed
  const must = 'a string with a unit, or a number of at least 1000 milliseconds'
  const computed = typeof value === 'number' ? `, and for a computed time \`\${ms}ms\`` : ''
  throw wrongOption(owner, option, must, value, `Write '${value}s' or '${value}ms'${computed}.`)
}

function isLength(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_DURATION_MS
}

/** A number and its unit, from milliseconds to years. */
const SPELLING =
  /^(\d*\.?\d+) *(?:(ms|msecs?|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hrs?|hours?)|(d|days?)|(w|weeks?)|(y|yrs?|years?))?$/i
const LENGTHS_MS = [1, 1000, 60_000, 3_600_000, 86_400_000, 7 * 86_400_000, 365.25 * 86_400_000]
const MAX_LENGTH = 100

/** Returns what a string means in milliseconds. A number without a unit is milliseconds. */
function parse(value: string): number | undefined {
  const [, amount, ...units] = (value.length <= MAX_LENGTH && SPELLING.exec(value)) || []
  if (amount === undefined) return undefined
  const unit = units.findIndex((each) => each !== undefined)
  return Number(amount) * (LENGTHS_MS[unit] ?? 1)
}

/** Creates a reader of durations that are no longer than `longest`, such as `'1m'`. */
/* @__NO_SIDE_EFFECTS__ */
export function durationUpTo(longest: string): (owner: string, option: string, value: unknown) => number {
  return (owner, option, value) => {
    const lengthMs = durationMs(owner, option, value, longest)
    if (lengthMs <= (parse(longest) ?? 0)) return lengthMs
    throw wrongOption(
      owner,
      option,
      `at most '${longest}'`,
      value,
      `Write ${option}: '${longest}', or a shorter time.`,
    )
  }
}

/** The units above a millisecond, largest first: the length of each, and its spelling in names. */
const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** Returns the shortest exact spelling of a duration, for the names of policies: 60000 is `1min`. */
export function shortDuration(durationMs: number): string {
  const [sizeMs, unit] = UNITS.find(([sizeMs]) => durationMs % sizeMs === 0) ?? [1, 'ms']
  return `${durationMs / sizeMs}${unit}`
}

/** Returns the shortest exact spelling that an option takes: 60000 is `1m`, 1500 is `1500ms`. */
export function durationText(lengthMs: number): string {
  return shortDuration(lengthMs).replace('min', 'm')
}
