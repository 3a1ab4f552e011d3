import { type Failure, fixFor } from '../errors.js'

// Error numbers: https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html
const LOCK_WAIT_TIMEOUT = 1205
const DEADLOCK = 1213
const DUPLICATE = 1062
/** A row has changed since the transaction's snapshot (MariaDB, `innodb_snapshot_isolation`). */
const CHANGED = 1020
/** `SET TRANSACTION` inside a transaction. */
const IN_TRANSACTION = 1568
const TEMPORARY = [LOCK_WAIT_TIMEOUT, DEADLOCK, DUPLICATE, CHANGED, IN_TRANSACTION]
const NO_TABLE = 1146
const BINLOG_BY_STATEMENT = 1665

const FAILURES: readonly (readonly [Failure, numbers: readonly number[]])[] = [
  ['missing table', [NO_TABLE]],
  ['schema mismatch', [1054, 1292, 1364, 1366, 1406]], // other columns, types or widths
  ['permission denied', [1044, 1142, 1143]], // on the database, the table, a column
  ['read only', [1290, 1792, 1836]],
]

function numberOf(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno)
}

export const isTemporary = (error: unknown) => TEMPORARY.includes(numberOf(error))
export const isInTransaction = (error: unknown) => numberOf(error) === IN_TRANSACTION
export const isMissingTable = (error: unknown) => numberOf(error) === NO_TABLE
export const isDuplicate = (error: unknown) => numberOf(error) === DUPLICATE

/** Returns the operator's fix for an error, if one is known. */
export function hintFor(error: unknown, table: string): string | undefined {
  const number = numberOf(error)
  if (number === BINLOG_BY_STATEMENT)
    return 'Set binlog_format to ROW or MIXED on the server: READ COMMITTED needs it.'
  const [failure] = FAILURES.find(([, numbers]) => numbers.includes(number)) ?? []
  return fixFor(error, failure, 'mysqlSchema()', table)
}
