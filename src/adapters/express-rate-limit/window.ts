import { MAX_DURATION_MS } from '../../util/durations.js'
import { wrongOption } from '../../util/validate.js'

/** Returns the length of a window in whole milliseconds, rounded up. Throws a `TypeError` for a wrong one. */
export function readWindow(windowMs: unknown): number {
  if (typeof windowMs === 'number' && windowMs > 0 && windowMs <= MAX_DURATION_MS) return Math.ceil(windowMs)
  const must = 'a number of milliseconds above 0, of at most 10 years'
  throw wrongOption('rateLimit', 'windowMs', must, windowMs, 'Did you mean windowMs: 60 * 1000?')
}
