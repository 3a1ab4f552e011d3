import { MAX_DURATION_MS } from '../../util/durations.js'
import { wrongOption } from '../../util/validate.js'

/** A second in milliseconds. */
export const SECOND = 1000
/** A minute in milliseconds. */
export const MINUTE = 60 * SECOND
/** An hour in milliseconds. */
export const HOUR = 60 * MINUTE
/** A day in milliseconds. */
export const DAY = 24 * HOUR

/** Returns digits as a number, since environment variables are strings; other values as they are. */
export function numberOf<Value>(value: Value): Value | number {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/**
 * Returns the length of a window in whole milliseconds, rounded up. Throws a `TypeError` for a wrong one.
 */
export function readWindow(windowMs: unknown): number {
  const ms = numberOf(windowMs)
  if (typeof ms === 'number' && ms > 0 && ms <= MAX_DURATION_MS) return Math.ceil(ms)
  const must = 'a number of milliseconds above 0 and at most 10 years'
  throw wrongOption('rateLimit', 'windowMs', must, windowMs, 'Did you mean windowMs: 60 * 1000?')
}

/** Throws a `TypeError` for a limit that is not a number, which would let everybody in. */
export function checkLimit(limit: unknown): void {
  if (limit !== null && !Number.isNaN(Number(limit))) return
  throw wrongOption('rateLimit', 'limit', 'a number, or a function that returns one', limit)
}
