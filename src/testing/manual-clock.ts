import { type Duration, durationMs } from '../util/durations.js'
import { wrongOption } from '../util/validate.js'

/**
 * A clock that stands still until a test advances it. Calling it returns milliseconds since the Unix epoch.
 */
export interface ManualClock {
  (): number
  /**
   * Advances the clock by a string such as `'30s'`, or by milliseconds, such as a decision's `retryAfterMs`,
   * which may have a fraction. Returns the new time.
   */
  advance(duration: Duration): number
}

const START_MS = Date.UTC(2030, 0, 1)

/**
 * Creates a clock for tests: `memoryStore({ clock: manualClock() })`. It starts at `startMs`, by default at
 * midnight UTC of 1 January 2030, where a fixed window of a minute, an hour or a day begins.
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
  throw wrongOption(
    'manualClock',
    'duration',
    "milliseconds of at least 0, or a string such as '30s'",
    duration,
  )
}
