import type { State } from '../../policies/policy.js'
import type { TransactionWrite } from '../builders/decide-batch.js'
import { expiryS } from './expiry.js'

/** A row to write. */
export interface Row {
  readonly key: string
  readonly state: State
  /**
   * When the row may be removed, in whole seconds since the Unix epoch. A later expiry of the row stays: other
   * numbers may have written it, under which its units count for longer.
   */
  readonly expiresAtS: number
}

/** What a transaction writes. Each list is in the order of its keys. */
export interface Changes {
  readonly updated: readonly Row[]
  readonly inserted: readonly Row[]
  readonly deleted: readonly string[]
}

/** Sorts writes by the statement that they need. */
export function changesOf(writes: readonly TransactionWrite[]): Changes {
  const updated: Row[] = []
  const inserted: Row[] = []
  const deleted: string[] = []
  for (const { key, policy, state, expiresAtMs, isNew } of writes) {
    if (state === undefined) deleted.push(key)
    else (isNew ? inserted : updated).push({ key, state, expiresAtS: expiryS(policy, expiresAtMs) })
  }
  return { updated, inserted, deleted }
}
