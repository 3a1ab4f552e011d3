import { readOptions, withDefault } from '../options/option-table.js'
import { choice, wrongOption } from '../util/validate.js'
import {
  append,
  clampLog,
  countAfter,
  emptyLog,
  isLog,
  type LogNumbers,
  remove,
  roundUp,
  timeAt,
  widthFor,
} from './packed-times.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec } from './spec.js'
import { type LimitInWindow, WINDOW_FIXES, WINDOW_ROWS, windowName } from './window-options.js'

/** Options of `slidingLog`. */
export interface SlidingLogOptions extends LimitInWindow {
  /** Units that may be taken in any window. A whole number from 1 to 1,000. */
  limit: number
  /**
   * How the units in use carry over when the numbers of the limit change. Default `'keep'`.
   *
   * - `'keep'`: they stay in use.
   * - `'reset'`: usage under each set of numbers is counted separately, so new numbers start fresh.
   */
  onChange?: 'keep' | 'reset'
}

const MAX_LIMIT = 1000

const OPTIONS = {
  rows: { ...WINDOW_ROWS, limit: readLimit, onChange: withDefault('keep', choice('keep', 'reset')) },
  fixes: WINDOW_FIXES,
}

function readLimit(owner: string, option: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_LIMIT) return value
  const isLarge = typeof value === 'number' && value > MAX_LIMIT
  const fix = isLarge ? 'Use slidingWindow, which has no such maximum.' : 'Write limit: 5.'
  throw wrongOption(owner, option, 'a whole number from 1 to 1,000', value, fix)
}

/**
 * Creates a policy that allows at most `limit` units in any window, wherever it begins. It logs when each
 * unit was taken, and a unit counts for exactly one window. Use it for small limits that must hold strictly,
 * such as five failed logins in 30 minutes.
 *
 * **Bound.** At most `limit` in any window. A window includes its start and excludes its end. Times are
 * rounded up to whole milliseconds, so a unit never comes back early, and less than 1 ms late. If the window
 * is longer than 9.3 hours, the delay can be longer, but is less than a 16-millionth of the window. That is
 * 4 ms for one day, and 16.4 s for ten years.
 *
 * **Clock.** After the clock steps back, units that were taken later than now count as taken now. So the
 * step grants nothing, and no client waits for longer than one window and the rounding. If the clock then
 * steps forward again, a unit may come back that much earlier. Units that no longer counted before the step
 * may count again.
 *
 * **Refunds** reach only units that were taken at the time of the charge. A reward gives back the newest
 * units first.
 *
 * **Change of numbers.** The policy can read a log that was written under any numbers. With the next unit
 * that is taken, the log adopts the room of the new limit and the rounding of the new window. Until then,
 * the store may expire the log at the end of the old window.
 *
 * **State.** Four numbers, and then the times of the units, two in each number (packed-times.ts). So the
 * state has 7 numbers for a limit of 5, and 504 for a limit of 1,000.
 *
 * @example
 * ```ts
 * import { byField, rateLimit, slidingLog } from 'headgate'
 *
 * // At most 5 text messages to a phone number in any 30 minutes.
 * const policy = slidingLog({ limit: 5, window: '30m' })
 * const codes = rateLimit({ policy, key: byField('phone') })
 * ```
 */
export function slidingLog(options: SlidingLogOptions): Policy {
  const { limit, window, name, onChange } = readOptions('slidingLog', options, OPTIONS)
  return makeSlidingLog({ name: name ?? windowName(limit, window), limit, windowMs: window, onChange })
}

interface LogLimit extends LogNumbers {
  readonly name: string
  readonly onChange: 'keep' | 'reset'
}

function makeSlidingLog(numbers: LogLimit): Policy {
  const { name, limit, windowMs, onChange } = numbers
  const width = widthFor(limit)

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const before = usedIn(clamped, nowMs)
    const allowed = cost === 0 || before + cost <= limit
    const log = allowed && cost > 0 ? append(clamped, cost, numbers, nowMs) : clamped
    const used = allowed ? before + cost : before
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      resetAfterMs: used === 0 ? 0 : endOf(log, 0) - nowMs,
      retryAfterMs: allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endOf(log, limit - cost) - nowMs,
      moreAfterMs: used === 0 ? 0 : endOf(log, Math.min(used, limit) - 1) - nowMs,
      next: cost === 0 || log === state ? undefined : log,
    }
  }

  function usedIn(log: State | undefined, nowMs: number): number {
    return log === undefined ? 0 : countAfter(log, nowMs - windowMs)
  }

  /** Returns when the unit of a rank no longer counts. */
  function endOf(log: State | undefined, rank: number): number {
    return log === undefined ? 0 : timeAt(log, rank) + windowMs
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    return state && clampLog(state, nowMs)
  }

  function refund(state: State, nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const takenMs = roundUp(state, takenAtMs)
    const newer = countAfter(state, takenMs)
    const taken = countAfter(state, takenMs - 1) - newer
    if (cost === 0 || taken === 0 || takenMs + windowMs <= nowMs) return state
    return unlessFresh(remove(state, newer, Math.min(cost, taken)), nowMs)
  }

  function reward(state: State, nowMs: number, units: number): State | undefined {
    if (units === 0) return state
    const log = clampLog(state, nowMs)
    return unlessFresh(remove(log, 0, Math.min(units, usedIn(log, nowMs))), nowMs)
  }

  function unlessFresh(log: State, nowMs: number): State | undefined {
    return usedIn(log, nowMs) === 0 ? undefined : log
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({
      kind: 'sliding-log',
      limit,
      windowMs,
      ...(onChange === 'reset' && { onChange }),
    }),
    name,
    limit,
    windowMs,
    width,
    blank: emptyLog(numbers),
    perKey: Array.from({ length: width - 2 }, (_, i) => 2 + i),
    canRead: isLog,
    take,
    refund,
    reward,
    clampToNow,
    scale: (share) => makeSlidingLog({ ...numbers, limit: shareOf(limit, share) }),
  })
}
