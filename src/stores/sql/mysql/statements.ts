import { type MysqlConnection, text } from './client.js'

/** Whatever `completion_type` says. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE'
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE'

/** Begins a transaction at READ COMMITTED, and leaves the level of those that follow as it is. */
export async function begin(connection: MysqlConnection): Promise<void> {
  await text(connection, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
  await text(connection, 'START TRANSACTION')
}

/** Bytes as they stand in SQL, whatever `sql_mode` says about quotes. */
export function hex(bytes: string | Buffer): string {
  return `x'${Buffer.from(bytes as string).toString('hex')}'`
}

/** Removes rows by their keys; tells how many. By order and limit, a small table is not searched as a whole, which would wait for locks on other rows. */
export async function removeRows(
  connection: MysqlConnection,
  table: string,
  keys: readonly (string | Buffer)[],
  and = '',
): Promise<number> {
  const sql = `DELETE FROM ${table} WHERE \`key\` IN (${keys.map(hex)})${and} ORDER BY \`key\` LIMIT ${keys.length}`
  return (await text(connection, sql)).affectedRows ?? 0
}
