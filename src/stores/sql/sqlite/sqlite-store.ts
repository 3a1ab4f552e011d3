import { callback, readOptions } from '../../../options/option-table.js'
import { readTogether } from '../../../options/problems.js'
import { type SqlStore, sqlStore } from '../sql-store.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { readDatabase, type SqliteDatabase } from './client.js'
import { sqliteDialect } from './dialect.js'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions extends SqlStoreOptions {
  /** Returns milliseconds since the Unix epoch, for tests. Default: `Date.now`. */
  clock?: () => number
}

const OPTIONS = { rows: { ...TABLE_OPTIONS.rows, clock: callback<() => number> } }

/**
 * Creates a store in an SQLite file, for the processes of one machine. One transaction decides a whole batch
 * of charges.
 *
 * - Atomicity: `BEGIN IMMEDIATE`, so that one process at a time decides and writes. The others try again for
 *   two seconds, and go on with other work meanwhile; then it rejects with `StoreError`.
 * - Clock: that of the machine, in milliseconds.
 * - Durability: a limit outlives its processes, `kill -9` included. A power cut may lose the last charges,
 *   and damages nothing. For a commit that outlives it, run `PRAGMA synchronous = FULL` after `prepare()`;
 *   each transaction then blocks the process until the disk has written it.
 * - Expired rows are removed in small batches, about once a minute while there are charges.
 * - `database` is the user's `DatabaseSync` of `node:sqlite` (Node.js 22.13 or newer), which nothing else
 *   uses: charges fail while the application has a transaction open on it. The store never closes it. Leave
 *   its `timeout` at 0, or each attempt blocks the process for as long.
 * - `await store.prepare()` in each process, and again when the database was closed and opened. It creates
 *   the table, switches the file to write-ahead logging, and sets `synchronous` of this connection to
 *   `NORMAL`.
 *
 * Throws a `TypeError` if `database` is no such object, and for wrong options.
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqlStore {
  const [checked, { table, clock = Date.now }] = readTogether(
    'sqliteStore',
    () => readDatabase(database),
    () => readOptions('sqliteStore', options, OPTIONS),
  )
  return {
    ...sqlStore(sqliteDialect(checked, table, clock)),
    origin: { client: checked, table: table.join('.') },
  }
}
