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
 * Creates a store that keeps states in an SQLite file, shared by the processes of one machine.
 *
 * - **Atomicity.** One transaction decides all operations that arrive together. It begins by
 *   `BEGIN IMMEDIATE`, so one process at a time decides and writes. The others retry for two seconds without
 *   blocking. Then the operations fail with a `StoreError`.
 * - **Clock.** That of the machine, in milliseconds.
 * - **Durability.** Limits outlive their processes, even after `kill -9`. A power cut may lose the last
 *   charges, and damages nothing. To lose none, run `PRAGMA synchronous = FULL` after `prepare()`. Each
 *   transaction then blocks the process until the disk has written it.
 * - **Purge.** Expired rows are removed in small batches, about once a minute while there are charges.
 * - **Database.** `database` is your `DatabaseSync` of `node:sqlite` (Node.js 22.13 or newer). Nothing else
 *   may use it: charges fail while the application has a transaction open on it. The store never closes it.
 *   Leave its `timeout` at 0, or each attempt blocks the process for as long.
 * - **`prepare()`** creates the tables, switches the file to write-ahead logging, and sets `synchronous` of
 *   this connection to `NORMAL`. Await it in each process, and again after you have closed and opened the
 *   database.
 *
 * Throws a `TypeError` if `database` is not a `DatabaseSync`, and for wrong options.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite'
 * import { rateLimit } from 'headgate'
 * import { sqliteStore } from 'headgate/sqlite'
 *
 * const store = sqliteStore(new DatabaseSync(process.env.LIMITS_FILE ?? ':memory:'))
 * await store.prepare() // in each process
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * ```
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
