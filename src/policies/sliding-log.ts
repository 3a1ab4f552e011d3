import { optional, readRows } from '../options/option-table.js'
import { durationMs } from '../util/durations.js'
import { keyName, wrongOption } from '../util/validate.js'
import { ON_CHANGE_ROW, specOfRules } from './change-options.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec, OnChange } from './spec.js'
import { type LimitInWindow, WINDOW_FIXES, windowName } from './window-options.js'

/** Options of `slidingLog`. */
export interface SlidingLogOptions extends LimitInWindow {
  /** Units that may be taken in any window. A whole number from 1 to 1,000. */
  limit: number
  /** What happens to the units in use when the numbers change, as in other policies. Default `'keep'`. */
  onChange?: OnChange
}

const MAX_LIMIT = 1000

const OPTIONS = {
  rows: { limit: readLimit, window: durationMs, name: optional(keyName), onChange: ON_CHANGE_ROW },
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
 * rounded up to whole milliseconds, so a unit never comes back early, and less than 1 ms late.
 *
 * **Clock.** After the clock steps back, units that were taken later than now count as taken now. So the
 * step grants nothing, and no client waits for longer than one window. If the clock then steps forward again,
 * a unit may come back that much earlier. Units that no longer counted before the step may count again.
 *
 * **Refunds** reach only units that were taken at the time of the charge. A reward gives back the newest
 * units first.
 *
 * **Change of numbers.** The policy reads a log that was written under any numbers. It drops units that are
 * older than its own window with the next unit that is taken.
 *
 * **State.** The times of the units in the window, oldest first. So its length varies.
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
  const { limit, window, name, onChange } = readRows('slidingLog', options, OPTIONS)
  return makeSlidingLog({ name: name ?? windowName(limit, window), limit, windowMs: window, onChange })
}

interface LogLimit {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly onChange: OnChange
}

function makeSlidingLog(numbers: LogLimit): Policy {
  const { name, limit, windowMs, onChange } = numbers

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const times = clamped === undefined ? [] : clamped.slice(expiredIn(clamped, nowMs))
    const before = times.length
    const allowed = cost === 0 || before + cost <= limit
    if (allowed) for (let i = 0; i < cost; i++) times.push(Math.ceil(nowMs))
    const after = allowed ? times : clamped
    const used = times.length
    const endOf = (index: number) => (times[index] as number) + windowMs - nowMs
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      resetAfterMs: used === 0 ? 0 : endOf(used - 1),
      retryAfterMs: allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endOf(used + cost - limit - 1),
      moreAfterMs: used === 0 ? 0 : endOf(Math.max(0, used - limit)),
      next: cost === 0 || after === state ? undefined : after,
    }
  }

  /** Returns how many units of a log are no longer in the window. */
  function expiredIn(log: State, nowMs: number): number {
    return countUntil(log, nowMs - windowMs)
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latestMs = Math.ceil(nowMs)
    if (state === undefined || (state[state.length - 1] ?? 0) <= latestMs) return state
    return state.map((atMs) => Math.min(atMs, latestMs))
  }

  function refund(state: State, nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const takenMs = Math.ceil(takenAtMs)
    const end = countUntil(state, takenMs)
    const taken = Math.min(cost, end - countUntil(state, takenMs - 1))
    if (taken === 0 || takenMs + windowMs <= nowMs) return state
    return taken === state.length ? undefined : [...state.slice(0, end - taken), ...state.slice(end)]
  }

  function reward(state: State, nowMs: number, units: number): State | undefined {
    if (units === 0) return state
    const log = clampToNow(state, nowMs) ?? state
    const kept = log.slice(0, Math.max(0, log.length - units))
    return expiredIn(kept, nowMs) === kept.length ? undefined : kept
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({
      kind: 'sliding-log',
      limit,
      windowMs,
      ...specOfRules({ debt: 0, onChange }),
    }),
    name,
    limit,
    windowMs,
    take,
    refund,
    reward,
    clampToNow,
    scale: (share) => makeSlidingLog({ ...numbers, limit: shareOf(limit, share) }),
  })
}

/** Returns how many times of a log, which are in ascending order, are at most `atMs`. Searches by halves. */
function countUntil(log: State, atMs: number): number {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((log[middle] as number) <= atMs) low = middle + 1
    else high = middle
  }
  return low
}
