import { given, knownOptions, wholeNumber, wrongOption } from '../../checks.js'
import { type Duration, durationMs } from '../../durations.js'
import type { LeaseSettings } from './leased.js'

/** How units of keys that are charged often are taken from the store ahead of their use. */
export interface LeaseOptions {
  /** How long units lie unused in a process at the longest, from 10 ms to 10 s. A block is what a key needs in this time. Default `'100ms'`. */
  hold?: Duration
  /**
   * How many processes share the limits, at most. A process takes at most a block of limit / (16 × processes), so limits below
   * 32 × processes are not leased. Default 8.
   */
  processes?: number
}

/** Reads and checks the option `lease`. Throws a `TypeError` that names what is wrong and the mend. */
export function readLease(owner: string, options: LeaseOptions | undefined): LeaseSettings | undefined {
  if (options === undefined) return undefined
  const lease = `${owner}: lease`
  knownOptions(lease, options, ['hold', 'processes'], { window: 'hold', ttl: 'hold', workers: 'processes' })
  const hold = given(options.hold, '100ms')
  const holdMs = durationMs(lease, 'hold', hold)
  if (holdMs < 10 || holdMs > 10_000) {
    throw wrongOption(lease, 'hold', 'from 10 ms to 10 s', hold, "Did you mean hold: '100ms'?")
  }
  return { holdMs, processes: wholeNumber(lease, 'processes', given(options.processes, 8), 1, 10_000, 8) }
}
