import { readOptions, withDefault } from '../../options/option-table.js'
import { type Duration, durationMs } from '../../util/durations.js'
import { whole, wrongOption } from '../../util/validate.js'
import type { LeaseSettings } from './leasing-store.js'

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

const OPTIONS = {
  rows: { hold: withDefault('100ms', readHold), processes: withDefault(8, whole(1, 10_000, 8)) },
  renamed: { window: 'hold', ttl: 'hold', workers: 'processes' },
}

/** Reads and checks the option `lease`. Throws a `TypeError` that names what is wrong and the mend. */
export function readLease(owner: string, option: string, options: unknown): LeaseSettings {
  const { hold, processes } = readOptions(`${owner}: ${option}`, options as LeaseOptions, OPTIONS)
  return { holdMs: hold, processes }
}

function readHold(owner: string, option: string, hold: unknown): number {
  const holdMs = durationMs(owner, option, hold)
  if (holdMs >= 10 && holdMs <= 10_000) return holdMs
  throw wrongOption(owner, option, 'from 10 ms to 10 s', hold, "Did you mean hold: '100ms'?")
}
