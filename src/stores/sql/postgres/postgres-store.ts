import { readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { wrongKind } from '../../../util/validate.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { TABLE_OPTIONS } from '../table.js'
import { isPostgresPool, type PostgresPool } from './client.js'
import { postgresDatabase } from './dialect.js'

/** What a PostgreSQL store can be told. */
export interface PostgresStoreOptions {
  /** The table's name, perhaps with its schema's before it. Default: `headgate`. */
  table?: string
}

/**
 * Keeps states in PostgreSQL, for any number of processes: one transaction decides a whole batch of charges.
 *
 * - Atomicity: the rows are locked in the order of their keys, decided on, written and committed, at READ COMMITTED, in two round
 *   trips. Family: row lock. A lone charge is one statement where it is allowed. Deadlocks and
 *   serialization failures are tried again, thirty times and for two seconds at the most, then `StoreError`.
 * - Clock: the server's, in microseconds.
 * - Expired rows are removed in small batches, about once a minute while there are charges.
 * - `pool` is the user's `pg` pool. It is never closed, and its connections go back as they were.
 * - The table has to be there: `await store.prepare()`, or run the SQL of `postgresSchema()`.
 *
 * Throws a `TypeError` for what is no such pool, and for wrong options.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): SqlStore {
  const [checkedPool, { table }] = readTogether(
    'postgresStore',
    () => readPool(pool),
    () => readOptions('postgresStore', options, TABLE_OPTIONS),
  )
  return sqlStore(postgresDatabase(checkedPool, table))
}

function readPool(pool: unknown): PostgresPool {
  if (isPostgresPool(pool)) return pool
  const mend = 'Write postgresStore(new Pool({ connectionString })).'
  throw wrongKind('postgresStore', 'pool', 'a pg pool', pool, mend)
}
