import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type PostgresPool, readPool } from './client.js'
import { postgresDialect } from './dialect.js'

/**
 * Creates a store that keeps states in PostgreSQL, shared by any number of processes.
 *
 * - **Atomicity.** Row lock: one transaction decides all operations that arrive together. At READ COMMITTED,
 *   it locks the rows in the order of their keys, decides, writes and commits, in two round trips. Allowed
 *   charges of the same limits take one statement instead, unless one of the limits is a quota, a sliding
 *   log, a ban or `concurrency`. Deadlocks and serialization failures are retried for two seconds. Then the
 *   operations fail with a `StoreError`.
 * - **Clock.** The server's, in microseconds.
 * - **Purge.** Expired rows are removed in small batches, about once a minute while there are charges.
 * - **Pool.** `pool` is your `pg` pool. The store never closes it, and leaves no setting changed on its
 *   connections.
 * - **Tables.** They must exist: call `await store.prepare()`, or run the SQL of `postgresSchema()`.
 *
 * Throws a `TypeError` if `pool` is not a `pg` pool, and for wrong options.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg'
 * import { rateLimit } from 'headgate'
 * import { postgresStore } from 'headgate/postgres'
 *
 * const pool = new Pool({ connectionString: process.env.POSTGRES_URL })
 * pool.on('error', console.error) // otherwise a lost idle connection ends the process
 * const store = postgresStore(pool)
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store, timeout: '250ms' })
 * export const start = () => store.prepare() // creates the tables if they do not exist
 * ```
 */
export function postgresStore(pool: PostgresPool, options: SqlStoreOptions = {}): SqlStore {
  const [pgPool, { table }] = readTogether(
    'postgresStore',
    () => readPool(pool),
    () => readOptions('postgresStore', options, TABLE_OPTIONS),
  )
  return { ...sqlStore(postgresDialect(pgPool, table)), origin: { client: pgPool, table: table.join('.') } }
}
