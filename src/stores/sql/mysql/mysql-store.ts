import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { wrongKind } from '../../../util/validate.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { TABLE_OPTIONS } from '../table.js'
import { callbackPoolOf, type MysqlCallbackPool, type MysqlPool } from './client.js'
import { mysqlDatabase } from './dialect.js'

/** What a MySQL store can be told. */
export interface MysqlStoreOptions {
  /** The table's name, perhaps with its database's before it. Default: `headgate`. */
  table?: string
}

/**
 * Keeps states in MySQL or MariaDB, for any number of processes: one transaction decides a whole batch of charges.
 *
 * - Atomicity: the rows are locked in the order of their keys, decided on, written and committed, at READ COMMITTED. Family: row
 *   lock. A lone charge is read, and written if the row is still the same; else it goes by a transaction. Deadlocks and lock waits are
 *   tried again, thirty times and for two seconds at the most, then `StoreError`.
 * - Clock: the server's, in microseconds.
 * - Expired rows are removed in small batches, about once a minute while there are charges.
 * - `pool` is the user's `mysql2` pool, by promises or by callbacks. It is never closed, and its connections go back as they were.
 * - The table has to be there: `await store.prepare()`, or run the SQL of `mysqlSchema()`.
 *
 * Throws a `TypeError` for what is no such pool, and for wrong options.
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): SqlStore {
  const [callbackPool, { table }] = readTogether(
    'mysqlStore',
    () => readPool(pool),
    () => readOptions('mysqlStore', options, TABLE_OPTIONS),
  )
  return sqlStore(mysqlDatabase(callbackPool, table))
}

function readPool(pool: MysqlPool): MysqlCallbackPool {
  const callbackPool = callbackPoolOf(pool)
  if (callbackPool !== undefined) return callbackPool
  throw wrongKind('mysqlStore', 'pool', 'a mysql2 pool', pool, 'Write mysqlStore(mysql.createPool(url)).')
}
