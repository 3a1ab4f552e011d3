import { OpenTransactionError } from '../errors.js'
import { type MysqlConnection, run } from './client.js'
import { isInTransaction } from './errors.js'

/** Whatever `completion_type` is. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE'
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE'

/** Microseconds since the Unix epoch when the statement began, in any time zone of the connection. */
export const BEGUN = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

const MINUTE_US = 60_000_000
const WAITED = 'TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))'

/**
 * The same at this moment: a statement may have waited for a lock, though not for nearly half an hour. The
 * wait is measured in local time, which may have been shifted by an hour or half an hour (daylight saving),
 * and the clock by up to a minute.
 */
export const CLOCK = `${BEGUN} + MOD(${WAITED} + ${61 * MINUTE_US}, ${30 * MINUTE_US}) - ${MINUTE_US}`

/**
 * Begins a transaction at READ COMMITTED, and leaves the level of later ones as it is. Rejects in a
 * transaction: as temporary where `autocommit` is off, since there any statement begins one.
 */
export async function begin(connection: MysqlConnection): Promise<void> {
  try {
    await run(connection, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
  } catch (error) {
    const [[autocommit] = []] = isInTransaction(error) ? await run(connection, 'SELECT @@autocommit') : []
    throw Number(autocommit) === 1 ? new OpenTransactionError() : error
  }
  await run(connection, 'START TRANSACTION')
}

/** Bytes as a literal, whatever `sql_mode` says about quotes. */
export function hex(bytes: string | Buffer): string {
  return `x'${Buffer.from(bytes as string).toString('hex')}'`
}

/**
 * Deletes rows by their keys, and returns how many. With order and limit the server does not scan a small
 * table, which would wait for locks on other rows.
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
