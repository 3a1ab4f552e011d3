import type { State } from '../../policies/policy.js'
import type { Part, Result, Verdict } from '../operation.js'

/** A row to write. */
export interface Row {
  readonly key: string
  readonly state: State
  /** When the row may be removed, in whole seconds since the Unix epoch. */
  readonly expiresAtS: number
}

/** The rows that a transaction has locked. */
export interface LockedRows {
  /** The states of the rows that exist: `undefined` for a corrupt row. */
  readonly states: ReadonlyMap<string, State | undefined>
  /** The database's time. */
  readonly nowMs: number
}

/** What a transaction writes. Each list is in the order of its keys. */
export interface Changes {
  readonly updated: readonly Row[]
  readonly inserted: readonly Row[]
  readonly deleted: readonly string[]
}

/** The results of the operations in a transaction, and what to write. */
export interface Decision {
  readonly results: readonly (Result | Error)[]
  readonly changes: Changes
}

/** What the store needs of a kind of database. Its methods reject with what the driver throws. */
export interface Dialect<Connection> {
  readonly name: 'mysql' | 'postgres' | 'sqlite'
  /** The table's name, quoted. */
  readonly table: string
  /** How often a transaction is tried within two seconds. Default 30. */
  readonly maxAttempts?: number
  acquire(): Promise<Connection>
  release(connection: Connection): void
  /** Closes a connection, so that the pool opens a new one. */
  destroy(connection: Connection): void
  /** Ends a transaction that may be open. */
  rollback(connection: Connection): Promise<unknown>
  /**
   * Locks the rows of these keys, calls `decide`, commits the changes and returns the results. Changes
   * nothing when it rejects; only if the connection was lost during the commit, the outcome is unknown.
   */
  transact(
    connection: Connection,
    keys: readonly string[],
    decide: (rows: LockedRows) => Decision,
  ): Promise<readonly (Result | Error)[]>
  /**
   * Decides a charge of one part in fewer round trips than a transaction. Returns `undefined`, and changes
   * nothing, for a charge that needs a transaction. Absent where a transaction takes no round trip.
   */
  chargeSingle?(connection: Connection, part: Part): Promise<Verdict | undefined>
  /** Removes expired rows, up to `limit`. Returns how many. */
  removeExpired(connection: Connection, limit: number): Promise<number>
  /** Creates the table if it does not exist. Rejects if the existing one has no unique keys. */
  prepare(connection: Connection): Promise<void>
}
