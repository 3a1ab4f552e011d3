import { OtherTable } from '../other-table.js'

/*
 * Error numbers of MySQL and MariaDB: https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html
 */
const LOCK_WAIT_TIMEOUT = 1205
const DEADLOCK = 1213
const DUPLICATE = 1062
/** A row has changed since the transaction's snapshot (MariaDB, `innodb_snapshot_isolation`). */
const CHANGED = 1020
/** `SET TRANSACTION` within one: where `autocommit` is off, whoever had the connection before may have left one open. */
const IN_TRANSACTION = 1568
const BINLOG_BY_STATEMENT = 1665
const NO_TABLE = 1146
const TEMPORARY = new Set([LOCK_WAIT_TIMEOUT, DEADLOCK, DUPLICATE, CHANGED, IN_TRANSACTION])
/** No such column, or one of another type, or one that is not ours and wants a value. */
const OTHER_SHAPE = new Set([1054, 1292, 1364, 1366, 1406])
const TABLE_DENIED = 1142
const DATABASE_DENIED = 1044
const COLUMN_DENIED = 1143
const READ_ONLY = new Set([1290, 1792, 1836])

function numberOf(error: unknown): number {
  return Number((error as { errno?: unknown } | null)?.errno)
}

/** Others were in the way: all of the transaction is rolled back. */
export function isTemporary(error: unknown): boolean {
  return TEMPORARY.has(numberOf(error))
}

export function isNoTable(error: unknown): boolean {
  return numberOf(error) === NO_TABLE
}

export function isDuplicate(error: unknown): boolean {
  return numberOf(error) === DUPLICATE
}

/** What the operator can do. */
export function hintFor(error: unknown, table: string): string | undefined {
  const number = numberOf(error)
  if (number === NO_TABLE) {
    return 'Await prepare() of the store before the first request, or run the SQL that mysqlSchema() gives.'
  }
  if (error instanceof OtherTable || OTHER_SHAPE.has(number)) {
    return `The table ${table} is another than mysqlSchema() makes. Name another one by the option table, or drop it and run prepare().`
  }
  if ([TABLE_DENIED, DATABASE_DENIED, COLUMN_DENIED].includes(number)) {
    return `Let the user of the pool work: GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO …; prepare() needs CREATE too.`
  }
  if (number === BINLOG_BY_STATEMENT)
    return 'Set binlog_format to ROW or MIXED on the server, which READ COMMITTED asks for.'
  if (READ_ONLY.has(number)) return 'The store needs a server that it may write to, not a replica.'
  return undefined
}
