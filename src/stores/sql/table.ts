import { type Rows, withDefault } from '../../options/option-table.js'
import { wrongKind } from '../../util/validate.js'
import { hashKey } from '../shared/hash-key.js'

/** Valid as an identifier on both servers when quoted: MySQL allows 64 characters, PostgreSQL 63. */
const NAME = /^[A-Za-z_][A-Za-z0-9_$]{0,50}$/
const DEFAULT_TABLE = 'headgate'
/** The width of the key column. Storage keys are usually shorter. */
export const MAX_KEY_BYTES = 255

/** Options of the SQL stores. */
export interface SqlStoreOptions {
  /** The table's name, which may follow the name of its schema or database. Default: `headgate`. */
  table?: string
}

export const TABLE_OPTIONS = {
  rows: { table: withDefault(DEFAULT_TABLE, (owner, _option, value) => tableNames(owner, value)) },
} satisfies { rows: Rows }

/** Returns the parts of a table's name: perhaps its schema (in MySQL: its database), and the table. */
function tableNames(owner: string, table: unknown): readonly string[] {
  const names = typeof table === 'string' ? table.split('.') : []
  if (names.length >= 1 && names.length <= 2 && names.every((name) => NAME.test(name))) return names
  const must = 'a name of at most 51 letters, digits, _ and $, with or without its schema'
  throw wrongKind(owner, 'table', must, table, "Write table: 'headgate' or table: 'limits.headgate'.")
}

/** Returns the key of a row: the storage key, or its hash if that is too long or not well-formed Unicode. */
export function rowKey(key: string): string {
  return key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES ? key : hashKey(key)
}
