import { optional, readOptions } from '../../options/option-table.js'
import { type Duration, durationMs } from '../../util/durations.js'
import { wrongKind, wrongOption } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import { checkedCost } from '../read-limits.js'

/** The options of `waitFor`. */
export interface WaitOptions {
  /** The cost of the charge, in place of the limits' own cost. */
  cost?: number
  /** The longest wait, such as `'5s'`. With 0, it does not wait. Default: until the charge is allowed. */
  maxWait?: Duration
  /** A signal that ends the wait when it aborts. */
  signal?: AbortSignal
}

const TABLE = {
  rows: { cost: optional(checkedCost), maxWait: optional(readMaxWait), signal: optional(readSignal) },
  objectFix: "Write waitFor(subject, { cost: 2, maxWait: '5s' }).",
}

/** Reads the options of one wait. Throws a `TypeError` for wrong ones. */
export function readWaitOptions(options: WaitOptions) {
  const { maxWait: maxWaitMs = Number.POSITIVE_INFINITY, ...rest } = readOptions('waitFor', options, TABLE)
  return { ...rest, deadlineMs: performance.now() + maxWaitMs }
}

/** Returns a time in milliseconds. Throws a `TypeError` for a wrong one. */
function readMaxWait(owner: string, option: string, maxWait: unknown): number {
  if (maxWait === 0) return 0
  if (maxWait !== Number.POSITIVE_INFINITY) return durationMs(owner, option, maxWait)
  const fix = 'Leave it out to wait until the charge is allowed.'
  throw wrongOption(owner, option, 'a duration', maxWait, fix)
}

/** Returns an `AbortSignal`, of any realm or polyfill. Throws a `TypeError` for anything else. */
function readSignal(owner: string, option: string, signal: unknown): AbortSignal {
  if (isAbortSignal(signal)) return signal
  throw wrongKind(owner, option, 'an AbortSignal', signal, 'Did you mean signal: controller.signal?')
}

function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = fieldsOf(value)
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}
