import { callback, readOptions, requiredFunction } from '../../options/option-table.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Charge, ChargeResult } from '../operation.js'
import type { StoreError } from '../store-error.js'
import { COMMON_ROWS, type CommonStoreOptions } from './built-store.js'
import type { LockedStates, TransactionWrite } from './decide-batch.js'

/** Options of `transactionStore`: what it needs from a database. */
export interface TransactionOptions<Transaction> extends CommonStoreOptions {
  /**
   * Begins a transaction, calls `run` with whatever `lockAndRead` and `write` need, commits, and returns
   * what `run` returns. If `run` throws or rejects, rolls back, so that nothing is written, and passes the
   * error on. `run` is synchronous if `lockAndRead` and `write` return no promises. With a synchronous
   * driver, do not await it.
   */
  transaction<T>(run: (transaction: Transaction) => MaybePromise<T>): MaybePromise<T>
  /**
   * Locks keys, in the order given, until the transaction ends, and returns their states. The keys are
   * distinct.
   */
  lockAndRead(transaction: Transaction, keys: readonly string[]): MaybePromise<LockedStates>
  /** Writes states, in the order of their keys. Removes each key whose `state` is `undefined`. */
  write(transaction: Transaction, writes: readonly TransactionWrite[]): MaybePromise<void>
  /**
   * Returns whether a transaction that failed with this error changed nothing and may succeed on a retry.
   * Examples are a deadlock, a lock that was not free in time, and a serialization failure. It is retried
   * with backoff for up to two seconds. Default: never.
   */
  isTemporary?(error: unknown): boolean
  /**
   * Returns whether `write` failed because another transaction inserted the same key. The transaction is
   * then retried, even after the two seconds. Default: never.
   */
  isDuplicate?(error: unknown): boolean
  /** Returns the `StoreError` for an error of a transaction. Default: one with the same message. */
  toStoreError?(error: unknown): StoreError
  /**
   * Decides charges of distinct keys, each atomically, in fewer round trips than a transaction takes. For
   * each that it cannot decide, returns `undefined` and changes nothing. Then a transaction decides. It must
   * not throw a temporary error once it has changed something.
   */
  chargeEach?(charges: readonly Charge[]): Promise<readonly (ChargeResult | undefined)[]>
  /** Returns the key for the database, such as a hash of one that is too long. Default: the same key. */
  storageKey?(key: string): string
}

const OPTIONS = {
  rows: {
    ...COMMON_ROWS,
    transaction: requiredFunction(
      'Write transaction: (run) => pool.transaction(run), or what your client calls it.',
    ),
    lockAndRead: requiredFunction(
      'Write lockAndRead: async (transaction, keys) => …, which returns { states, nowMs }.',
    ),
    write: requiredFunction('Write write: async (transaction, writes) => …'),
    isTemporary: callback,
    isDuplicate: callback,
    toStoreError: callback,
    chargeEach: callback,
    storageKey: callback,
  },
}

/** Checks the options. Throws a `TypeError` that names each wrong option and its fix. */
export function readTransactionOptions(options: object): void {
  readOptions('transactionStore', options, OPTIONS)
}
