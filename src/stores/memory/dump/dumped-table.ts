import type { Step } from '../../../policies/policy.js'
import type { ChargeResult, Part } from '../../operation.js'
import { StoreError } from '../../store-error.js'
import { StateTable } from '../state-table.js'

const RETRY_MS = 1000

/** What every charge gets: its client may find the next process a second later. */
const DENIAL: Step = {
  allowed: false,
  remaining: 0,
  resetAfterMs: RETRY_MS,
  retryAfterMs: RETRY_MS,
  moreAfterMs: RETRY_MS,
}

/**
 * Takes the place of the states that were dumped. What it allowed would be missing from the dump, so it denies
 * every charge. All else fails: a ban or a refund would be lost.
 */
export class DumpedTable extends StateTable {
  override take(): Step {
    return DENIAL
  }

  override takeHashed(): Step {
    return DENIAL
  }

  override takeTogether(parts: readonly Part[], nowMs: number): ChargeResult {
    return { type: 'charge', allowed: false, atMs: nowMs, parts: parts.map(() => DENIAL) }
  }

  override read(): never {
    throw new StoreError('memory', 'the store was dumped, so nothing can be changed', { replied: true })
  }

  override forget(): void {
    this.read()
  }
}
