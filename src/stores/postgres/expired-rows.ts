import { type PostgresConnection, repliesOf } from './postgres-client.js'

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
  const isOurs = locked?.rows[0]?.[0] === 't'
  const expired = `SELECT key FROM ${table} WHERE expires_at < date_part('epoch', now())::bigint ORDER BY expires_at LIMIT ${most} FOR UPDATE SKIP LOCKED`
  const removing = `DELETE FROM ${table} WHERE key = ANY(ARRAY(${expired})) RETURNING 1`
  const [gone] = await repliesOf(connection, isOurs ? [removing, 'COMMIT'] : ['ROLLBACK', 'SELECT 1 LIMIT 0'])
  return gone?.rows.length ?? 0
}
