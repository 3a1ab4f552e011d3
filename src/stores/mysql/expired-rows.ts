import { begin, COMMIT, type MysqlConnection, removeRows, text } from './mysql-client.js'

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

/** The rows are found first and then removed by their keys, so that they are locked in the order in which charges lock them. */
async function removeFirst(connection: MysqlConnection, table: string, most: number): Promise<number> {
  const isExpired = 'expires_at < UNIX_TIMESTAMP()'
  await begin(connection)
  const finding = `SELECT \`key\` FROM ${table} WHERE ${isExpired} ORDER BY expires_at LIMIT ${most}`
  const keys = (await text(connection, finding)).map(([key]) => key as Buffer)
  const removed = keys.length > 0 ? await removeRows(connection, table, keys, ` AND ${isExpired}`) : 0
  await text(connection, COMMIT)
  return removed
}
