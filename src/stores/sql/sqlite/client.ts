import { wrongKind } from '../../../util/validate.js'
import type { Unchecked } from '../../shared/validate.js'

/** A prepared statement. */
export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown
  run(...values: SqliteValue[]): { readonly changes: number | bigint }
}

/** A value that the store binds to a statement. */
export type SqliteValue = string | number | Uint8Array

/** What the store needs of a `DatabaseSync` of `node:sqlite` (https://nodejs.org/api/sqlite.html). */
export interface SqliteDatabase {
  open(): void
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** Returns the database. Throws a `TypeError` if `value` is not one. */
export function readDatabase(value: unknown): SqliteDatabase {
  if (isDatabase(value)) return value
  const fix = "Write sqliteStore(new DatabaseSync('limits.db'))."
  throw wrongKind('sqliteStore', 'database', 'a DatabaseSync from node:sqlite', value, fix)
}

function isDatabase(value: unknown): value is SqliteDatabase {
  const { open, exec, prepare }: Unchecked<SqliteDatabase> = value ?? {}
  return [open, exec, prepare].every((method) => typeof method === 'function')
}
