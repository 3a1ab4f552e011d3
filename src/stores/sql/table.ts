import { type Rows, withDefault } from '../../options/option-table.js'
import { wrongKind } from '../../util/validate.js'

/** Both servers take it as it is, when it is quoted: MySQL up to 64 characters, PostgreSQL up to 63. */
const NAME = /^[A-Za-z_][A-Za-z0-9_$]{0,50}$/
export const DEFAULT_TABLE = 'headgate'

/** The options of a store in a database. */
export const TABLE_OPTIONS = {
  rows: { table: withDefault(DEFAULT_TABLE, (owner, _option, value) => tableNames(owner, value)) },
} satisfies { rows: Rows }

/** The names of which a table's name is made: its own, or its schema's (MySQL: database) and its own. Throws a `TypeError` for others. */
export function tableNames(owner: string, table: unknown): readonly string[] {
  const names = typeof table === 'string' ? table.split('.') : []
  if (names.length >= 1 && names.length <= 2 && names.every((name) => NAME.test(name))) return names
  const must = 'a name of at most 51 letters, digits, _ and $, perhaps with that of its schema before it'
  throw wrongKind(owner, 'table', must, table, "Such as 'headgate', or 'limits.headgate'.")
}
