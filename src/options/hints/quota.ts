import { advise, type Given, type Hint } from './hint.js'
import { eitherUnit, lengthSource, type Source, toNumber, unitsSource } from './source.js'

/** Words for how much is allowed. */
export const UNIT_WORDS: readonly string[] = ['points', 'max', 'limit', 'delayAfter']
/** Words for the time in which it is. */
export const TIME_WORDS: readonly string[] = ['windowMs', 'duration', 'ttl', 'timeWindow', 'window']

/** Words by which options of rate-limiter-flexible are recognized: it counts in seconds. */
const SECONDS_WORDS: readonly string[] = [
  'points',
  'storeClient',
  'execEvenly',
  'insuranceLimiter',
  'blockDuration',
]
/** Numbers below it are no windows in milliseconds that anybody means. */
const LEAST_PLAIN_MS = 1000

const has = (given: Given, words: readonly string[]) => words.some((word) => given[word] !== undefined)

/**
 * How long a `blockDuration` is: seconds in rate-limiter-flexible, milliseconds in @nestjs/throttler from
 * version 5 on.
 */
export function blockLengths(given: Given): readonly Source[] {
  const { blockDuration } = given
  if (given.ttl !== undefined) return [lengthSource(blockDuration, 1, 'DURATION')]
  if (has(given, ['points', 'duration', 'storeClient']))
    return [lengthSource(blockDuration, 1000, 'DURATION')]
  return eitherUnit(blockDuration, 'DURATION')
}

/** How long the window is that these options mean. */
export function windowLengths(given: Given): readonly Source[] {
  const { windowMs, timeWindow, ttl, duration, window } = given
  if (windowMs !== undefined) return [lengthSource(windowMs)]
  if (timeWindow !== undefined) return [lengthSource(timeWindow)]
  if (ttl !== undefined) return windowOrSeconds(ttl) // seconds in @nestjs/throttler before version 5
  if (duration === undefined) return windowOrSeconds(window)
  return has(given, SECONDS_WORDS) ? [lengthSource(duration, 1000)] : eitherUnit(duration)
}

function windowOrSeconds(value: unknown): readonly Source[] {
  return (toNumber(value) ?? LEAST_PLAIN_MS) < LEAST_PLAIN_MS ? eitherUnit(value) : [lengthSource(value)]
}

function unitsGiven(given: Given): unknown {
  return UNIT_WORDS.map((word) => given[word]).find((value) => value !== undefined)
}

/** How much is allowed. */
export function unitsOf(given: Given): Source {
  return unitsSource(unitsGiven(given))
}

/** What to do where the limit lets nobody through, or everybody; `undefined` for any other. */
export function noQuota(given: Given, covers = ['limit', 'window', 'policy']): Hint | undefined {
  const units = unitsGiven(given)
  if (toNumber(units) === 0)
    return advise(
      'A limit of 0 lets nobody through: leave the route out, or refuse addresses with block of rateLimit.',
      covers,
    )
  if (units === Number.POSITIVE_INFINITY)
    return advise('A limit of Infinity lets everybody through: leave the limiter out.', covers)
  return undefined
}

/** Whether the quota depends on the request. */
export function isDynamic(given: Given): boolean {
  return [...UNIT_WORDS, ...TIME_WORDS].some((word) => typeof given[word] === 'function')
}

/** The package whose words these are; `undefined` where they are headgate's own. */
export function packageOf(given: Given): string | undefined {
  if (has(given, ['delayAfter', 'delayMs', 'maxDelayMs'])) return 'express-slow-down'
  if (has(given, ['points', 'storeClient', 'duration'])) return 'rate-limiter-flexible'
  if (has(given, ['timeWindow', 'ban', 'continueExceeding', 'exponentialBackoff']))
    return '@fastify/rate-limit'
  if (given.ttl !== undefined) return '@nestjs/throttler'
  return has(given, ['windowMs', 'max']) ? 'express-rate-limit' : undefined
}
