import { DEFAULT_TABLE, tableNames } from '../table.js'

/**
 * Returns the SQL that creates the table of `sqliteStore` and its index, two statements, for applications
 * with their own migrations. It changes nothing if they exist.
 *
 * - `table` is the table's name, perhaps with that of an attached database: `limits.headgate`. Default:
 *   `headgate`.
 *
 * Throws a `TypeError` for an invalid name.
 */
export function sqliteSchema(table: string = DEFAULT_TABLE): string {
  const names = tableNames('sqliteSchema', table)
  const [name = '', ...database] = names.toReversed()
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    '  key TEXT NOT NULL PRIMARY KEY,',
    '  state BLOB NOT NULL,',
    '  expires_at INTEGER NOT NULL',
    ') STRICT, WITHOUT ROWID;',
    `CREATE INDEX IF NOT EXISTS ${quoteName([...database, `${name}_expires_at`])} ON ${quoteName([name])} (expires_at);`,
  ].join('\n')
}

export const quoteName = (names: readonly string[]) => names.map((name) => `"${name}"`).join('.')
