import { readOptions } from '../../../options/option-table.js'
import { documentsTable } from '../documents.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'

/**
 * Returns the SQL that creates the tables of `sqliteStore`, for applications with their own migrations. Its
 * three statements create the table with its index, and the table that holds the documents of
 * `sharedSettings`. The SQL changes nothing if they exist.
 *
 * - `table` is the table's name, which may follow the name of an attached database: `limits.headgate`.
 *   Default: `headgate`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { sqliteSchema } from 'headgate/sqlite'
 *
 * // node print-schema.js > 001-headgate.sql
 * console.log(sqliteSchema())
 * ```
 */
export function sqliteSchema(options: SqlStoreOptions = {}): string {
  const { table: names } = readOptions('sqliteSchema', options, TABLE_OPTIONS)
  const [name = '', ...database] = names.toReversed()
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    '  key TEXT NOT NULL PRIMARY KEY,',
    '  state BLOB NOT NULL,',
    '  expires_at INTEGER NOT NULL',
    ') STRICT, WITHOUT ROWID;',
    `CREATE INDEX IF NOT EXISTS ${quoteName([...database, `${name}_expires_at`])} ON ${quoteName([name])} (expires_at);`,
    `CREATE TABLE IF NOT EXISTS ${quoteName(documentsTable(names))} (`,
    '  key TEXT NOT NULL PRIMARY KEY,',
    '  version TEXT NOT NULL,',
    '  text TEXT NOT NULL',
    ') STRICT, WITHOUT ROWID;',
  ].join('\n')
}

export const quoteName = (names: readonly string[]) => names.map((name) => `"${name}"`).join('.')
