import { codeOf, MYSQL_IN_TRANSACTION, openTransactionError } from '../errors.js'
import { type MysqlConnection, run } from './client.js'

/** The additions override `completion_type`. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE'
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE'

/** In MariaDB a statement waits a second for a locked row; MySQL has `innodb_lock_wait_timeout` alone. */
export const LOCK_WAIT = '/*M!100301 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */ '

/** When the statement began, in µs since the Unix epoch, whatever the connection's time zone is. */
export const STATEMENT_START = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

const MINUTE_US = 60_000_000
const WAITED = 'TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))'

/**
 * The present, in µs since the Unix epoch: a statement may have waited for a lock, much less than half an
 * hour. The wait is measured in local time, so a shift by hours or half hours (daylight saving) is removed;
 * a clock adjusted by up to a minute is tolerated.
 */
export const CLOCK = `${STATEMENT_START} + MOD(${WAITED} + ${61 * MINUTE_US}, ${30 * MINUTE_US}) - ${MINUTE_US}`

/** Sets the isolation level of the next transaction. On MariaDB, also begins it, in the same round trip. */
const SET_LEVEL =
  '/*M!100301 BEGIN NOT ATOMIC */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED /*M!100301 ; START TRANSACTION; END */'

/** SERVER_STATUS_IN_TRANS in `serverStatus`. */
export const IN_TRANSACTION = 1

/**
 * Begins a transaction at READ COMMITTED, without changing the level of later ones. Rejects in an open
 * transaction: as temporary where `autocommit` is off, since any statement begins one there.
 */
export async function begin(connection: MysqlConnection): Promise<void> {
  try {
    const { serverStatus = 0 } = await run(connection, SET_LEVEL)
    if ((serverStatus & IN_TRANSACTION) === 0) await run(connection, 'START TRANSACTION')
  } catch (error) {
    if (codeOf(error) !== MYSQL_IN_TRANSACTION) throw error
    const [[autocommit] = []] = await run(connection, 'SELECT @@autocommit')
    throw Number(autocommit) === 1 ? openTransactionError() : error
  }
}

/** Returns bytes as a literal that is valid in every `sql_mode`. */
export function hex(bytes: string | Buffer): string {
  return `x'${Buffer.from(bytes as string).toString('hex')}'`
}

/**
 * Deletes rows by their keys, and returns how many. Order and limit keep the server from scanning a small
 * table, which would wait for other rows' locks.
 */
export async function deleteRows(
  connection: MysqlConnection,
  table: string,
  keys: readonly (string | Buffer)[],
  and = '',
): Promise<number> {
  if (keys.length === 0) return 0
  const sql = `DELETE FROM ${table} WHERE \`key\` IN (${keys.map(hex)})${and} ORDER BY \`key\` LIMIT ${keys.length}`
  return (await run(connection, sql)).affectedRows ?? 0
}
