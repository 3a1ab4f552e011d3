import { readOptions } from '../../../options/option-table.js'
import { documentsTable } from '../documents.js'
import { type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type PostgresConnection, run } from './client.js'

/**
 * Returns the SQL that creates the tables of `postgresStore`, for applications with their own migrations.
 * Its three statements create the table with its index, and the table that holds the documents of
 * `sharedSettings`. The SQL changes nothing if they exist.
 *
 * - `table` is the table's name, which may follow the name of its schema: `limits.headgate`. Default:
 *   `headgate`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { postgresSchema } from 'headgate/postgres'
 *
 * // node print-schema.js > 001-headgate.sql
 * console.log(postgresSchema({ table: 'limits.headgate' }))
 * ```
 */
export function postgresSchema(options: SqlStoreOptions = {}): string {
  const { table: names } = readOptions('postgresSchema', options, TABLE_OPTIONS)
  return `${statesSchema(names)};\n${documentsSchema(documentsTable(names))}`
}

function statesSchema(names: readonly string[]): string {
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    '  key bytea PRIMARY KEY,',
    '  state double precision[] NOT NULL,',
    '  expires_at bigint NOT NULL',
    ');',
    `CREATE INDEX IF NOT EXISTS ${quoteName([`${names.at(-1)}_expires_at`])} ON ${quoteName(names)} (expires_at)`,
  ].join('\n')
}

function documentsSchema(names: readonly string[]): string {
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    '  key bytea PRIMARY KEY,',
    '  version bytea NOT NULL,',
    '  text bytea NOT NULL',
    ')',
  ].join('\n')
}

export const quoteName = (names: readonly string[]) => names.map((name) => `"${name}"`).join('.')

/**
 * Creates the tables that do not exist. Checks first, because only a table's owner may run
 * `CREATE INDEX IF NOT EXISTS`. Rejects with a temporary error if another process also creates them. The
 * transaction shows at once whether a pooler allows one.
 */
export async function prepareTables(connection: PostgresConnection, names: readonly string[]): Promise<void> {
  const tables = [
    { names, schemaOf: statesSchema },
    { names: documentsTable(names), schemaOf: documentsSchema },
  ]
  const lookUps = tables.map((table) => `to_regclass('${quoteName(table.names)}')`)
  const [, found] = await run(connection, 'BEGIN', `SELECT ${lookUps}`)
  const missing = tables.filter((_, i) => found?.rows[0]?.[i] === null)
  await run(connection, ...missing.map((table) => table.schemaOf(table.names)), 'COMMIT')
}
