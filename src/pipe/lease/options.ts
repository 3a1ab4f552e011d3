import { readOptions, withDefault } from '../../options/option-table.js'
import { type Duration, durationMs } from '../../util/durations.js'
import { whole, wrongOption } from '../../util/validate.js'
import type { LeaseSettings } from './leasing-store.js'

/** How units of hot keys are taken from the store in blocks, before their use. */
export interface LeaseOptions {
  /**
   * The longest that a process holds unused units, from 10 ms to 10 s. A block is as many units as the key
   * was charged in this time. Default `'100ms'`.
   */
  hold?: Duration
  /**
   * The most processes that share the limits. A block is at most limit / (16 × processes), so limits below
   * 32 × processes are not leased. Default 8.
   */
  processes?: number
}

const OPTIONS = {
  rows: { hold: withDefault('100ms', readHold), processes: withDefault(8, whole(1, 10_000, 8)) },
  fixes: { window: 'hold', ttl: 'hold', workers: 'processes' },
}

/** Returns the settings of the option `lease`. Throws a `TypeError` that names what is wrong and the fix. */
export function readLease(owner: string, option: string, options: unknown): LeaseSettings {
  const { hold, processes } = readOptions(`${owner}: ${option}`, options as LeaseOptions, OPTIONS)
  return { holdMs: hold, processes }
}

function readHold(owner: string, option: string, hold: unknown): number {
  const holdMs = durationMs(owner, option, hold)
  if (holdMs >= 10 && holdMs <= 10_000) return holdMs
  throw wrongOption(owner, option, 'from 10 ms to 10 s', hold, "Did you mean hold: '100ms'?")
}
