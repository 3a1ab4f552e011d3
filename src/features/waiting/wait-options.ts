import { checkedCost } from '../../limiter/parse-limits.js'
import { optional, readOptions } from '../../options/option-table.js'
import { whole, wrongKind, wrongOption } from '../../util/validate.js'

/** The options of `limiter.waitFor`. */
export interface WaitOptions {
  /** Replaces the limits' own cost. */
  cost?: number
  /** The longest wait, in milliseconds; 0 for none. Default: until the charge is allowed. */
  maxWaitMs?: number
  /** Ends the wait when it aborts. */
  signal?: AbortSignal
}

const TABLE = {
  rows: { cost: optional(checkedCost), maxWaitMs: optional(readMaxWait), signal: optional(readSignal) },
}

/** Reads the options of one wait. Throws a `TypeError` for wrong ones. */
export function readWaitOptions(options: WaitOptions) {
  const { maxWaitMs = Number.POSITIVE_INFINITY, ...rest } = readOptions('limiter.waitFor', options, TABLE)
  return { ...rest, deadlineMs: performance.now() + maxWaitMs }
}

/** Returns a time in milliseconds. Throws a `TypeError` for a wrong one. */
function readMaxWait(owner: string, option: string, maxWaitMs: unknown): number {
  if (maxWaitMs !== Number.POSITIVE_INFINITY) return whole(0)(owner, option, maxWaitMs)
  const fix = 'To wait until the charge is allowed, leave it out.'
  throw wrongOption(owner, option, 'a whole number of at least 0', maxWaitMs, fix)
}

/** Returns an `AbortSignal`, of any realm or polyfill. Throws a `TypeError` for anything else. */
function readSignal(owner: string, option: string, signal: unknown): AbortSignal {
  const { aborted, addEventListener } = Object(signal) as Partial<AbortSignal>
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return signal as AbortSignal
  throw wrongKind(owner, option, 'an AbortSignal', signal, 'Did you mean signal: controller.signal?')
}
