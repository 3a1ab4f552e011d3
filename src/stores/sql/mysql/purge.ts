import { type MysqlConnection, run } from './client.js'
import { begin, COMMIT, deleteRows } from './statements.js'

/** Written so that the server does not use the index of `expires_at`, which would lock the first living row. */
const STILL_EXPIRED = ' AND expires_at + 0 < UNIX_TIMESTAMP()'

/**
 * Removes expired rows, up to `limit`, and returns how many it found. It deletes by key, so that rows are locked in
 * the order in which charges lock them. Of processes that purge the same rows, all but one find nothing and stop.
 */
export async function removeExpired(
  connection: MysqlConnection,
  table: string,
  limit: number,
): Promise<number> {
  await begin(connection)
  const expired = `SELECT \`key\` FROM ${table} WHERE expires_at < UNIX_TIMESTAMP() ORDER BY expires_at LIMIT ${limit}`
  const keys = (await run(connection, expired)).map(([key]) => key as Buffer)
  const deleted = await deleteRows(connection, table, keys, STILL_EXPIRED)
  await run(connection, COMMIT)
  return deleted > 0 ? keys.length : 0 // a full batch, though some of its rows live again
}
