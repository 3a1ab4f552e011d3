import { optional } from '../options/option-table.js'
import { type Duration, durationMs, shortDuration } from '../util/durations.js'
import { keyName, wholeNumber } from '../util/validate.js'
import { type ChangeOptions, DEBT_ROW, ON_CHANGE_ROW } from './change-options.js'

/** The options of every policy that has a limit and a window. */
export interface LimitInWindow {
  /** Units that may be taken per window. A whole number of at least 1. */
  limit: number
  /** The length of the window: a string with its unit, such as `'15m'`, or milliseconds, at least 1000. */
  window: Duration
  /** The name of the limit in headers and keys. Default: made from the numbers, such as `100-in-1min`. */
  name?: string
}

/** The options that `fixedWindow` and `slidingWindow` share. */
export interface WindowOptions extends LimitInWindow, ChangeOptions {}

export const WINDOW_FIXES = {
  max: 'limit',
  points: 'limit',
  windowMs: 'window',
  duration: "Write window with its unit, such as window: '1m'.",
}

/** Returns the rows of the options of a window, and of those that only one kind has. */
/* @__NO_SIDE_EFFECTS__ */
export function windowRows<OfKind extends object>(ofKind: OfKind) {
  const rows = { limit: wholeNumber, window: durationMs, name: optional(keyName) }
  return { ...rows, debt: DEBT_ROW, onChange: ON_CHANGE_ROW, ...ofKind }
}

/** The default name of a window, such as `100-in-1min`. */
export function windowName(limit: number, lengthMs: number): string {
  return `${limit}-in-${shortDuration(lengthMs)}`
}
