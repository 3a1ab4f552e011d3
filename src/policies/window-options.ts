import { keyName, knownOptions, wholeNumber } from '../checks.js'
import { type Duration, durationMs, shortDuration } from '../durations.js'

/** What every window of counters is made of. */
export interface WindowOptions {
  /** Units that may be taken per window. A whole number of at least 1. */
  limit: number
  /** The length of the window. */
  window: Duration
  /** For headers and keys. Default: such as `100-in-1min`. */
  name?: string
}

/** Checks the options that `fixedWindow` and `slidingWindow` share. */
export function readWindowOptions(owner: string, options: WindowOptions, extra: readonly string[]) {
  knownOptions(owner, options, ['limit', 'window', 'name', ...extra], {
    windowMs: 'window',
    max: 'limit',
    points: 'limit',
  })
  const limit = wholeNumber(owner, 'limit', options.limit)
  const windowMs = durationMs(owner, 'window', options.window)
  const fallback = `${limit}-in-${shortDuration(windowMs)}`
  const name = options.name === undefined ? fallback : keyName(owner, 'name', options.name)
  return { limit, windowMs, name }
}
