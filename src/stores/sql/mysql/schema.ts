import { MAX_KEY_BYTES } from '../row-key.js'
import { DEFAULT_TABLE, tableNames } from '../table.js'

/** The longest state: a ban from a sliding window of 100 slices has 106 numbers of 8 bytes. */
const MAX_STATE_BYTES = 1024

/**
 * The SQL that makes the table of `mysqlStore`, one statement, for those who run their own migrations. It changes nothing where the
 * table is there.
 *
 * - `table` is the table's name, perhaps with its database's before it. Default `headgate`.
 *
 * Throws a `TypeError` for what is no such name.
 */
export function mysqlSchema(table: string = DEFAULT_TABLE): string {
  const names = tableNames('mysqlSchema', table)
  return [
    `CREATE TABLE IF NOT EXISTS ${quoted(names)} (`,
    `  \`key\` VARBINARY(${MAX_KEY_BYTES}) NOT NULL PRIMARY KEY,`,
    `  state VARBINARY(${MAX_STATE_BYTES}) NOT NULL,`,
    '  expires_at BIGINT NOT NULL,',
    `  KEY ${quoted([`${names.at(-1)}_expires_at`])} (expires_at)`,
    ') ENGINE = InnoDB',
  ].join('\n')
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join('.')
}
