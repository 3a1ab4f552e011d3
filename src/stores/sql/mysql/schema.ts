import { readOptions } from '../../../options/option-table.js'
import { documentsTable } from '../documents.js'
import { codeOf, MYSQL_NO_TABLE } from '../errors.js'
import { MAX_KEY_BYTES, type SqlStoreOptions, TABLE_OPTIONS } from '../table.js'
import { type MysqlConnection, type MysqlReply, run } from './client.js'

/** Room for the longest state: a ban over a log of 1,000 units has 1,004 numbers of 8 bytes. */
const MAX_STATE_BYTES = 8192

/**
 * Returns the SQL that creates the tables of `mysqlStore`, for applications with their own migrations. There
 * is one statement for each table, and the second table holds the documents of `sharedSettings`. The SQL
 * changes nothing if the tables exist.
 *
 * - `table` is the table's name, which may follow the name of its database: `limits.headgate`. Default:
 *   `headgate`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { mysqlSchema } from 'headgate/mysql'
 *
 * // node print-schema.js > 001-headgate.sql
 * console.log(mysqlSchema({ table: 'limits.headgate' }))
 * ```
 */
export function mysqlSchema(options: SqlStoreOptions = {}): string {
  const { table: names } = readOptions('mysqlSchema', options, TABLE_OPTIONS)
  return `${statesSchema(names)};\n${documentsSchema(documentsTable(names))}`
}

function statesSchema(names: readonly string[]): string {
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    `  \`key\` VARBINARY(${MAX_KEY_BYTES}) NOT NULL PRIMARY KEY,`,
    `  state VARBINARY(${MAX_STATE_BYTES}) NOT NULL,`,
    '  expires_at BIGINT NOT NULL,',
    `  KEY ${quoteName([`${names.at(-1)}_expires_at`])} (expires_at)`,
    ') ENGINE = InnoDB',
  ].join('\n')
}

function documentsSchema(names: readonly string[]): string {
  return [
    `CREATE TABLE IF NOT EXISTS ${quoteName(names)} (`,
    `  \`key\` VARBINARY(${MAX_KEY_BYTES}) NOT NULL PRIMARY KEY,`,
    '  version VARBINARY(64) NOT NULL,',
    '  text MEDIUMBLOB NOT NULL',
    ') ENGINE = InnoDB',
  ].join('\n')
}

export const quoteName = (names: readonly string[]) => names.map((name) => `\`${name}\``).join('.')

/**
 * Creates the tables that do not exist. Rejects if an existing one has no unique keys: an upsert would add
 * rows instead of changing them.
 */
export async function prepareTables(connection: MysqlConnection, names: readonly string[]): Promise<void> {
  await prepareTable(connection, names, statesSchema)
  await prepareTable(connection, documentsTable(names), documentsSchema)
}

async function prepareTable(
  connection: MysqlConnection,
  names: readonly string[],
  schemaOf: (names: readonly string[]) => string,
): Promise<void> {
  const indexes = await run(connection, `SHOW INDEX FROM ${quoteName(names)}`).catch((error: unknown) => {
    if (codeOf(error) !== MYSQL_NO_TABLE) throw error
  })
  if (indexes === undefined) await run(connection, schemaOf(names))
  else if (!hasUniqueKeys(indexes)) throw new Error('its keys are not unique')
}

function hasUniqueKeys(indexes: MysqlReply): boolean {
  const isAlone = (index: unknown) => indexes.filter(([, , other]) => other === index).length === 1
  return indexes.some(([, nonUnique, index, , column, , , prefixLength]) => {
    return Number(nonUnique) === 0 && column === 'key' && prefixLength === null && isAlone(index)
  })
}
