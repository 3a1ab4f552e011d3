import { readRows, withDefault } from '../options/option-table.js'
import { wrongOption } from '../util/validate.js'
import { countedWindow, type WindowKind, windowsByClock } from './counted-window.js'
import type { Policy } from './policy.js'
import { WINDOW_FIXES, type WindowOptions, windowName, windowRows } from './window-options.js'

/** Options of `fixedWindow`. */
export interface FixedWindowOptions extends WindowOptions {
  /**
   * When a window begins. Default `'clock'`.
   *
   * - `'clock'`: at multiples of its length since the Unix epoch, at the same time for all keys.
   * - `'first-request'`: at the first charge of each key.
   */
  startsAt?: 'clock' | 'first-request'
}

const OPTIONS = {
  rows: windowRows({ startsAt: withDefault('clock', readStart) }),
  fixes: WINDOW_FIXES,
}

function readStart(owner: string, option: string, value: unknown): 'clock' | 'first-request' {
  if (value === 'clock' || value === 'first-request') return value
  const fix = "Write startsAt: 'first-request' to begin each client's window with its first request."
  throw wrongOption(owner, option, "'clock' or 'first-request'", value, fix)
}

/**
 * Creates a policy that allows `limit` units per window, all of which come back when the window ends.
 *
 * - `startsAt: 'clock'`, the default: windows are aligned to the Unix epoch, so a window of a day is a day
 *   in UTC. All clients get their quota back at the same moment. In memcached, this is the cheaper setting.
 * - `startsAt: 'first-request'`: a window begins with a client's first request. The first request after its
 *   end begins the next one, as in express-rate-limit. Clients get their quota back at different moments.
 *
 * **Bound.** Any span of one window's length overlaps at most two windows, each with at most `limit`. So it
 * admits at most `2 × limit` units. In the long run, it is at most `limit` per window.
 *
 * **Clock.** A step back grants nothing.
 *
 * - With `'clock'`, a state keeps counting in its own window, which is at most the one after the current
 *   one. No client waits for longer than two windows.
 * - With `'first-request'`, a window that would begin later begins now. No client waits for longer than one
 *   window. If the clock then steps forward again, that window may be shorter by that step, and prepaid
 *   units may be used as long after its end.
 *
 * **Refunds** reach only the window in which the units were taken. They do not change when it ends, except
 * that with `'first-request'`, a window that becomes empty ends at once.
 *
 * **Change of numbers.** The count stays in use. If the length changes, it counts in the current window of the
 * new length if the last charge (with `'first-request'`, the first) was in it. A debt ends with its window.
 *
 * **State.** The count, and when the last charge was made. With `'first-request'`, when the window began.
 *
 * @example
 * ```ts
 * import { fixedWindow, rateLimit } from 'headgate'
 *
 * const api = rateLimit({ policy: fixedWindow({ limit: 1000, window: '1h' }) })
 * ```
 */
export function fixedWindow(options: FixedWindowOptions): Policy {
  const { limit, window, name, startsAt, debt, onChange } = readRows('fixedWindow', options, OPTIONS)
  const windows = startsAt === 'clock' ? clockWindows(window) : firstRequestWindows(window)
  const counted = { name: name ?? windowName(limit, window), limit, windowMs: window, debt, onChange }
  return countedWindow(counted, windows)
}

/** Windows at multiples of their length since the Unix epoch. */
function clockWindows(windowMs: number): WindowKind {
  const startOf = (atMs: number) => Math.floor(atMs / windowMs) * windowMs
  return {
    specOf: (limit) => ({ kind: 'fixed-window', limit, windowMs }),
    ...windowsByClock(startOf, (atMs) => startOf(atMs) + windowMs),
  }
}

/** The most by which the times of a reply are rounded. */
const ROUNDING_MS = 1

/**
 * Windows that begin with a key's first charge after the last window. Under other numbers, a window may begin
 * in the same millisecond as a charge that it did not count. It ends later than that charge's own window.
 */
function firstRequestWindows(windowMs: number): WindowKind {
  return {
    specOf: (limit) => ({ kind: 'first-request-window', limit, windowMs }),
    isCurrent: (atMs, nowMs) => nowMs < atMs + windowMs,
    chargedAt: (atMs, nowMs) => atMs ?? nowMs,
    latestAt: (nowMs) => nowMs,
    hasCounted: (atMs, takenAtMs, resetAtMs) =>
      atMs <= takenAtMs && takenAtMs < atMs + windowMs && atMs + windowMs <= resetAtMs + ROUNDING_MS,
    endOf: (atMs) => atMs + windowMs,
  }
}
