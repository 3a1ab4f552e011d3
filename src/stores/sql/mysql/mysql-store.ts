import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type MysqlPool, readPool } from './client.js'
import { mysqlDialect } from './dialect.js'

/**
 * Creates a store in MySQL or MariaDB, for any number of processes. One transaction decides a whole batch
 * of charges.
 *
 * - Atomicity: row lock. A transaction at READ COMMITTED locks the rows in the order of their keys,
 *   decides, writes and commits. A single charge of one limit is a compare-and-swap in two round trips, and
 *   a transaction if that fails. Deadlocks and lock waits are retried for two seconds; then it rejects with
 *   `StoreError`.
 * - Clock: the server's, in microseconds.
 * - Expired rows are removed in small batches, about once a minute while there are charges.
 * - `pool` is the user's `mysql2` pool, with promises or callbacks. The store never closes it, and leaves no
 *   setting changed on its connections.
 * - The table must exist: `await store.prepare()`, or run the SQL of `mysqlSchema()`.
 *
 * Throws a `TypeError` if `pool` is no such pool, and for wrong options.
 */
export function mysqlStore(pool: MysqlPool, options: SqlStoreOptions = {}): SqlStore {
  const [callbackPool, { table }] = readTogether(
    'mysqlStore',
    () => readPool(pool),
    () => readOptions('mysqlStore', options, TABLE_OPTIONS),
  )
  return {
    ...sqlStore(mysqlDialect(callbackPool, table)),
    origin: { client: callbackPool, table: table.join('.') },
  }
}
