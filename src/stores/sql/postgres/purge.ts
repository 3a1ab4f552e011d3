import { type PostgresConnection, repliesOf } from './client.js'

/** Removes some expired rows, at most so many, unless another process is at it; tells how many. Leaves out rows that are in use. */
export async function removeExpiredRows(
  connection: PostgresConnection,
  table: string,
  lockName: string,
  most: number,
): Promise<number> {
  const [, locked] = await repliesOf(connection, [
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    `SELECT pg_try_advisory_xact_lock(hashtext('${lockName}'))`,
  ])
  if (locked?.rows[0]?.[0] !== 't') {
    await repliesOf(connection, ['ROLLBACK'])
    return 0
  }
  const expired = `SELECT key FROM ${table} WHERE expires_at < date_part('epoch', now())::bigint ORDER BY expires_at LIMIT ${most} FOR UPDATE SKIP LOCKED`
  const removing = `DELETE FROM ${table} WHERE key = ANY(ARRAY(${expired})) RETURNING 1`
  const [gone] = await repliesOf(connection, [removing, 'COMMIT'])
  return gone?.rows.length ?? 0
}
