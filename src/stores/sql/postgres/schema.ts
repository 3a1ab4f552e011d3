import { DEFAULT_TABLE, tableNames } from '../table.js'

/**
 * The SQL that makes the table of `postgresStore` and its index, two statements, for those who run their own migrations. It changes
 * nothing where they are there.
 *
 * - `table` is the table's name, perhaps with its schema's before it. Default `headgate`.
 *
 * Throws a `TypeError` for what is no such name.
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  const names = tableNames('postgresSchema', table)
  return [
    `CREATE TABLE IF NOT EXISTS ${quoted(names)} (`,
    '  key bytea PRIMARY KEY,',
    '  state double precision[] NOT NULL,',
    '  expires_at bigint NOT NULL',
    ');',
    `CREATE INDEX IF NOT EXISTS ${quoted([`${names.at(-1)}_expires_at`])} ON ${quoted(names)} (expires_at)`,
  ].join('\n')
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join('.')
}
