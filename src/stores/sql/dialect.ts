import type { MaybePromise } from '../../util/maybe-promise.js'
import type { LockedStates } from '../builders/decide-batch.js'
import type { Charge, ChargeResult } from '../operation.js'
import type { Changes } from './changes.js'
import type { DocumentStatements } from './documents.js'

/**
 * What the store needs of a kind of database. Its methods reject with what the driver throws. `Transaction`
 * is what a transaction hands to the statements in it.
 */
export interface Dialect<Connection, Transaction = Connection> {
  readonly name: 'mysql' | 'postgres' | 'sqlite'
  /** The table's name, quoted. */
  readonly table: string
  acquire(): Promise<Connection>
  release(connection: Connection): void
  /** Closes a connection, so that the pool opens a new one. */
  destroy(connection: Connection): void
  /** Ends a transaction that may be open. */
  rollback(connection: Connection): Promise<unknown>
  /**
   * Begins a transaction, runs `run` in it, commits and returns its result. Changes nothing when it rejects;
   * only if the connection was lost during the commit, the outcome is unknown.
   */
  transact<T>(connection: Connection, run: (transaction: Transaction) => MaybePromise<T>): Promise<T>
  /**
   * Locks the rows of these keys. Returns the states of those that exist (`undefined` for a corrupt row),
   * and the time.
   */
  lock(transaction: Transaction, keys: readonly string[]): MaybePromise<LockedStates>
  /** Writes rows, at the latest when the transaction commits. */
  write(transaction: Transaction, changes: Changes): MaybePromise<void>
  /**
   * Decides charges of distinct keys, each atomically, in fewer round trips than a transaction. Returns
   * `undefined`, and changes nothing, for each that needs a transaction. Absent where a transaction takes no
   * round trip.
   */
  chargeEach?(
    connection: Connection,
    charges: readonly Charge[],
  ): Promise<readonly (ChargeResult | undefined)[]>
  /** Removes expired rows, up to `limit`. Returns how many. */
  removeExpired(connection: Connection, limit: number): Promise<number>
  readonly documents: DocumentStatements<Connection>
  /** Creates the tables that do not exist. Rejects if an existing one has no unique keys. */
  prepare(connection: Connection): Promise<void>
}
