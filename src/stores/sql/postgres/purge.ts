import { type PostgresConnection, run } from './client.js'

/**
 * Removes expired rows that nobody has locked, up to `limit`, and returns how many. Returns 0 while another process
 * purges the table.
 */
export async function removeExpired(
  connection: PostgresConnection,
  table: string,
  lock: string,
  limit: number,
): Promise<number> {
  const isAlone = `(SELECT pg_try_advisory_xact_lock(hashtext('${lock}')))`
  const isExpired = "expires_at < date_part('epoch', now())::bigint"
  const keys = `SELECT key FROM ${table} WHERE ${isAlone} AND ${isExpired} ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`
  const [deleted] = await run(connection, `DELETE FROM ${table} WHERE key = ANY(ARRAY(${keys})) RETURNING 1`)
  return deleted?.rows.length ?? 0
}
