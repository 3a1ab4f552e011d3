import { type MysqlConnection, text } from './client.js'
import { begin, COMMIT, removeRows } from './statements.js'

/** Removes some expired rows, at most so many, unless another process is at it; tells how many. */
export async function removeExpiredRows(
  connection: MysqlConnection,
  table: string,
  lockName: string,
  most: number,
): Promise<number> {
  const lock = `'${lockName.slice(-64)}'` // the longest name of a lock
  const [[isOurs] = []] = await text(connection, `SELECT GET_LOCK(${lock}, 0)`)
  if (Number(isOurs) !== 1) return 0
  try {
    return await removeFirst(connection, table, most)
  } finally {
    await text(connection, `SELECT RELEASE_LOCK(${lock})`)
  }
}

/** No condition by which the server could use the other index, which would lock the first row that lives. */
const STILL_EXPIRED = ' AND expires_at + 0 < UNIX_TIMESTAMP()'

/** The rows are found first and then removed by their keys, so that they are locked in the order in which charges lock them. */
async function removeFirst(connection: MysqlConnection, table: string, most: number): Promise<number> {
  await begin(connection)
  const finding = `SELECT \`key\` FROM ${table} WHERE expires_at < UNIX_TIMESTAMP() ORDER BY expires_at LIMIT ${most}`
  const keys = (await text(connection, finding)).map(([key]) => key as Buffer)
  const removed = keys.length > 0 ? await removeRows(connection, table, keys, STILL_EXPIRED) : 0
  await text(connection, COMMIT)
  return removed > 0 ? keys.length : 0 // more may be there, though one of these lives again
}
