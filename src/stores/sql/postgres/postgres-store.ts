import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type PostgresPool, readPool } from './client.js'
import { postgresDialect } from './dialect.js'

/**
 * Creates a store in PostgreSQL, for any number of processes. One transaction decides a whole batch of
 * charges.
 *
 * - Atomicity: row lock. A transaction at READ COMMITTED locks the rows in the order of their keys,
 *   decides, writes and commits, in two round trips. A single charge of one limit is one statement if it is
 *   allowed. Deadlocks and serialization failures are retried for two seconds; then it rejects with
 *   `StoreError`.
 * - Clock: the server's, in microseconds.
 * - Expired rows are removed in small batches, about once a minute while there are charges.
 * - `pool` is the user's `pg` pool. The store never closes it, and leaves no setting changed on its
 *   connections.
 * - The table must exist: `await store.prepare()`, or run the SQL of `postgresSchema()`.
 *
 * Throws a `TypeError` if `pool` is no such pool, and for wrong options.
 */
export function postgresStore(pool: PostgresPool, options: SqlStoreOptions = {}): SqlStore {
  const [pgPool, { table }] = readTogether(
    'postgresStore',
    () => readPool(pool),
    () => readOptions('postgresStore', options, TABLE_OPTIONS),
  )
  return { ...sqlStore(postgresDialect(pgPool, table)), origin: { client: pgPool, table: table.join('.') } }
}
