import { type Duration, durationMs } from '../util/durations.js'
import { wrongOption } from '../util/validate.js'

/** A clock that stands still until a test advances it. Call it for milliseconds since the Unix epoch. */
export interface ManualClock {
  (): number
  /**
   * Advances the clock by a duration, and returns the new time. A duration is a string such as `'30s'`, or
   * milliseconds, such as a decision's `retryAfterMs`, which may have a fraction.
   */
  advance(duration: Duration): number
}

const START_MS = Date.UTC(2030, 0, 1)

/**
 * Creates a clock that stands still until a test advances it, for `memoryStore`. It starts at `startMs`, by
 * default at midnight UTC on 1 January 2030. There, a fixed window of a minute, an hour or a day begins.
 *
 * @example
 * ```ts
 * import { createLimiter, memoryStore } from 'headgate'
 * import { manualClock } from 'headgate/testing'
 *
 * const clock = manualClock()
 * const store = memoryStore({ clock })
 * const limiter = createLimiter({ limit: 1, window: '1m', key: (id: string) => id, store })
 * await limiter.charge('ada') // allowed
 * await limiter.charge('ada') // denied
 * clock.advance('1m')
 * await limiter.charge('ada') // allowed
 * ```
 */
export function manualClock(startMs: number = START_MS): ManualClock {
  if (!Number.isFinite(startMs))
    throw wrongOption('manualClock', 'startMs', 'milliseconds since the Unix epoch', startMs)
  let nowMs = startMs
  const advance: ManualClock['advance'] = (duration) => {
    nowMs += lengthOf(duration)
    return nowMs
  }
  return Object.assign(() => nowMs, { advance })
}

function lengthOf(duration: Duration): number {
  if (typeof duration !== 'number') return durationMs('manualClock', 'duration', duration)
  if (duration >= 0 && duration < Number.POSITIVE_INFINITY) return duration
  throw wrongOption('manualClock', 'duration', "at least 0 milliseconds, or a string such as '30s'", duration)
}
