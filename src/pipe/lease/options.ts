import { callback, readOptions, withDefault } from '../../options/option-table.js'
import { messageOf, type StoreError } from '../../stores/store-error.js'
import { type Duration, durationMs } from '../../util/durations.js'
import { whole, wrongOption } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import type { LeaseSettings } from './leased-store.js'

/** Options of `leased`: how units are taken from a store in blocks, before they are used. */
export interface LeaseOptions {
  /**
   * The longest time that a process holds unused units, from 10 ms to 10 s. A block has as many units as the
   * key was charged in this time. Default `'100ms'`.
   */
  hold?: Duration
  /**
   * The most processes that share the limits. A block has at most limit / (16 × processes) units, so limits
   * below 32 × processes are not leased. Default 8.
   */
  processes?: number
  /**
   * Called if unused units could not be returned. They stay taken until the refill, or until their window
   * ends. Default: one process warning.
   */
  onReturnFailed?: (error: StoreError) => void
}

const OPTIONS = {
  rows: {
    hold: withDefault('100ms', readHold),
    processes: withDefault(8, whole(1, 10_000, 8)),
    onReturnFailed: callback<(error: StoreError) => void>,
  },
  fixes: { window: 'hold', ttl: 'hold', workers: 'processes' },
}

/** Reads the options of `leased`. Throws a `TypeError` that names what is wrong and the fix. */
export function readLeaseOptions(owner: string, options: LeaseOptions): LeaseSettings {
  const { hold, processes, onReturnFailed = warnOfReturn } = readOptions(owner, options, OPTIONS)
  return { holdMs: hold, processes, onReturnFailed: (error) => report(onReturnFailed, error) }
}

function readHold(owner: string, option: string, hold: unknown): number {
  const holdMs = durationMs(owner, option, hold)
  if (holdMs >= 10 && holdMs <= 10_000) return holdMs
  throw wrongOption(owner, option, 'from 10 ms to 10 s', hold, "Did you mean hold: '100ms'?")
}

function warnOfReturn(error: StoreError): void {
  const fix = 'To log every occurrence, pass onReturnFailed to leased(…).'
  warnOnce(
    'HEADGATE_RETURN_FAILED',
    `headgate: leased units could not be returned (${messageOf(error)}). ${fix}`,
  )
}

/**
 * Reports a failure. If the callback throws, emits one process warning, since no caller could catch the
 * error.
 */
function report(onReturnFailed: (error: StoreError) => void, error: StoreError): void {
  try {
    onReturnFailed(error)
  } catch (thrown) {
    const problem = `onReturnFailed of leased(…) threw (${messageOf(thrown)})`
    warnOnce('HEADGATE_LISTENER_FAILED', `headgate: ${problem}. Fix the callback.`)
  }
}
