import { durationMs, durationText } from '../durations.js'
import { type Given, type Hint, type Reading, write } from './hint.js'

export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value)

/** Words for how much is allowed. */
export const UNIT_WORDS: readonly string[] = ['points', 'max', 'limit']
/** Words for the time in which it is. */
export const TIME_WORDS: readonly string[] = ['windowMs', 'duration', 'ttl', 'timeWindow', 'window']

/** How long something lasts, as source text such as `'15m'`, and in which case. */
export interface Length {
  readonly text: string
  readonly when?: string
}

/** Words by which options of rate-limiter-flexible are recognised: it counts in seconds. */
const SECONDS_WORDS: readonly string[] = [
  'points',
  'storeClient',
  'execEvenly',
  'insuranceLimiter',
  'blockDuration',
]

const has = (given: Given, words: readonly string[]) => words.some((word) => given[word] !== undefined)

/** The source text of a length of time; `'1m'` where the value is none. */
export function lengthText(value: unknown, unitMs = 1): string {
  try {
    if (typeof value === 'string' && durationMs('', '', value) > 0) return `'${value}'`
    return `'${durationText(durationMs('', '', Number(value) * unitMs))}'`
  } catch {
    return "'1m'"
  }
}

/** Both readings of a number whose unit cannot be known. */
function eitherUnit(value: unknown): readonly Length[] {
  if (!isNumber(value) || value < 1) return [{ text: lengthText(value) }]
  return [
    { text: lengthText(value, 1000), when: 'where it counts seconds' },
    { text: lengthText(value), when: 'where it counts milliseconds' },
  ]
}

/**
 * How long a `blockDuration` is: seconds in rate-limiter-flexible, milliseconds in @nestjs/throttler from
 * version 5 on.
 */
export function blockLengths(given: Given): readonly Length[] {
  if (given.ttl !== undefined) return [{ text: lengthText(given.blockDuration) }]
  if (has(given, ['points', 'duration', 'storeClient']))
    return [{ text: lengthText(given.blockDuration, 1000) }]
  return eitherUnit(given.blockDuration)
}

/** How long the window is that these options mean. */
export function windowLengths(given: Given): readonly Length[] {
  const { windowMs, timeWindow, ttl, duration, window } = given
  if (windowMs !== undefined) return [{ text: lengthText(windowMs) }]
  if (timeWindow !== undefined) return [{ text: lengthText(timeWindow) }]
  // @nestjs/throttler counted seconds before version 5, and nobody means windows of less than a second in milliseconds.
  if (ttl !== undefined) return isNumber(ttl) && ttl < 1000 ? eitherUnit(ttl) : [{ text: lengthText(ttl) }]
  if (duration !== undefined)
    return has(given, SECONDS_WORDS) ? [{ text: lengthText(duration, 1000) }] : eitherUnit(duration)
  return [{ text: lengthText(window ?? '1m') }]
}

/** How much is allowed, as source text. */
export function unitsText(given: Given): string {
  const units = UNIT_WORDS.map((word) => given[word]).find((value) => value !== undefined)
  return isNumber(units) && units > 0 ? String(units) : '100'
}

function packageOf(given: Given): string {
  if (has(given, ['points', 'storeClient'])) return 'rate-limiter-flexible'
  if (given.timeWindow !== undefined) return '@fastify/rate-limit'
  if (given.ttl !== undefined) return '@nestjs/throttler'
  return given.duration === undefined ? 'express-rate-limit' : 'rate-limiter-flexible'
}

/** Fixed windows with the quota of these options, one for each reading. */
export function fixedWindows(given: Given): readonly Length[] {
  return windowLengths(given).map(({ text, ...rest }) => ({
    text: `fixedWindow({ limit: ${unitsText(given)}, window: ${text} })`,
    ...rest,
  }))
}

/**
 * The policy for a quota that is given in words of another package. A function in place of the limit becomes
 * one that gives the policy.
 */
export function policyHint(given: Given): Hint {
  const { points, max, limit, duration } = given
  const own = ['limit', 'window'].filter((word) => given[word] !== undefined).join(' and ')
  if (duration === 0)
    return write({ policy: `consecutive({ limit: ${unitsText(given)} })` }, ', which has no window')
  const isFunction = typeof (points ?? max ?? limit) === 'function'
  const readings = fixedWindows(given).map(({ text, ...rest }): Reading => {
    return { write: { policy: isFunction ? `() => ${text}` : text }, ...rest }
  })
  if (readings.length > 1) return { readings, ...(own && { note: `, each without ${own}` }) }
  const without = own && ` without ${own}`
  const note = `${without}, which counts as ${packageOf(given)} does, or limit and window for a token bucket`
  return { readings, note }
}
