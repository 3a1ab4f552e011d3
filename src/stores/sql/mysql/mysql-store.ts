import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type MysqlPool, readPool } from './client.js'
import { mysqlDialect } from './dialect.js'

/**
 * Creates a store that keeps states in MySQL or MariaDB, shared by any number of processes.
 *
 * - **Atomicity.** Row lock: one transaction decides all operations that arrive together. At READ COMMITTED,
 *   it locks the rows in the order of their keys, decides, writes and commits. A single charge of one limit
 *   is a compare-and-swap in two round trips, and a transaction if that fails. Deadlocks and lock waits are
 *   retried for two seconds. Then the operations fail with a `StoreError`.
 * - **Clock.** The server's, in microseconds.
 * - **Purge.** Expired rows are removed in small batches, about once a minute while there are charges.
 * - **Pool.** `pool` is your `mysql2` pool, with promises or callbacks. The store never closes it, and
 *   leaves no setting changed on its connections.
 * - **Tables.** They must exist: call `await store.prepare()`, or run the SQL of `mysqlSchema()`.
 *
 * Throws a `TypeError` if `pool` is not a `mysql2` pool, and for wrong options.
 *
 * @example
 * ```ts
 * import { createPool } from 'mysql2/promise'
 * import { rateLimit } from 'headgate'
 * import { mysqlStore } from 'headgate/mysql'
 *
 * const pool = createPool(process.env.MYSQL_URL ?? 'mysql://localhost/app')
 * const store = mysqlStore(pool)
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store, timeout: '250ms' })
 * export const start = () => store.prepare() // creates the tables if they do not exist
 * ```
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
