import { readOptions } from '../../../options/option-table.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type PostgresConnection, run } from './client.js'

/**
 * Returns the SQL that creates the table of `postgresStore` and its index, two statements, for applications
 * with their own migrations. It changes nothing if they exist.
 *
 * - `table` is the table's name, perhaps with its schema's: `limits.headgate`. Default: `headgate`.
 *
 * Throws a `TypeError` for wrong options.
 */
export function postgresSchema(options: SqlStoreOptions = {}): string {
  const { table: names } = readOptions('postgresSchema', options, TABLE_OPTIONS)
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    '  key bytea PRIMARY KEY,',
    '  state double precision[] NOT NULL,',
    '  expires_at bigint NOT NULL',
    ');',
    `CREATE INDEX IF NOT EXISTS ${quoteName([`${names.at(-1)}_expires_at`])} ON ${quoteName(names)} (expires_at)`,
  ].join('\n')
}

export const quoteName = (names: readonly string[]) => names.map((name) => `"${name}"`).join('.')

/**
 * Creates the table and its index if the table does not exist. Checks first, since only a table's owner may
 * run `CREATE INDEX IF NOT EXISTS`. Rejects with a temporary error if another process creates them, too. The
 * transaction shows at once whether a pooler allows one.
 */
export async function prepareTable(connection: PostgresConnection, names: readonly string[]): Promise<void> {
  const [, table] = await run(connection, 'BEGIN', `SELECT to_regclass('${quoteName(names)}')`)
  const exists = table?.rows[0]?.[0] !== null
  await run(connection, ...(exists ? [] : [postgresSchema({ table: names.join('.') })]), 'COMMIT')
}
