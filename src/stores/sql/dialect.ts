import type { State } from '../../policies/policy.js'
import type { Part, Verdict } from '../store.js'

/** A row as it is written. */
export interface Row {
  readonly key: string
  readonly state: State
  /** When it may be removed, in whole seconds since the Unix epoch. */
  readonly expiresAtS: number
}

/** What a transaction finds. */
export interface Found {
  /** Of the rows that are there: `undefined` for one that holds no state. */
  readonly states: ReadonlyMap<string, State | undefined>
  /** The database's time. */
  readonly nowMs: number
}

/** What a transaction leaves behind. Each list is in the order of its keys. */
export interface Changes {
  /** Rows that were found. */
  readonly changed: readonly Row[]
  /** Rows that were not. */
  readonly added: readonly Row[]
  readonly removed: readonly string[]
}

/** What the store needs of a database. What fails rejects with what the driver throws. */
export interface Database {
  readonly name: 'mysql' | 'postgres'
  /**
   * Locks the rows of these keys, asks `work` what to change, and commits that. Nothing is changed where it rejects, unless the
   * connection was lost during the commit: then nobody knows.
   */
  transact(keys: readonly string[], work: (found: Found) => Changes): Promise<void>
  /**
   * Decides a charge of one part in fewer round trips than a transaction takes. Gives nothing, and has done nothing, where that
   * needs the transaction.
   */
  chargeAlone(part: Part): Promise<Verdict | undefined>
  /** Whether the same may well succeed when it is tried again. Nothing has been changed. */
  isTemporary(error: unknown): boolean
  /** What the operator can do about an error, where that is known. */
  hintFor(error: unknown): string | undefined
  /** Creates the table where there is none. Rejects where the one that is there lacks an index. */
  prepare(): Promise<void>
  /** Removes some expired rows, at most so many, unless another process is at it; tells how many. */
  removeExpired(most: number): Promise<number>
}
