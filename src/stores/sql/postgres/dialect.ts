import type { LockedStates } from '../../builders/decide-batch.js'
import type { Dialect } from '../dialect.js'
import { openTransactionError } from '../errors.js'
import { chargeEach } from './charge-each.js'
import { acquire, isInTransaction, type PostgresConnection, type PostgresPool, run } from './client.js'
import { CLOCK, decode, encodeAsHex, keyArray, rowTable } from './codec.js'
import { postgresDocuments } from './documents.js'
import { prepareTables, quoteName } from './schema.js'
import { LOCK_TIMEOUT_MS } from './take-statements.js'

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'
/** A transaction. Its first query begins it, and its writes are sent with the commit. */
interface Transaction {
  readonly connection: PostgresConnection
  readonly writes: string[]
}

/** Creates the dialect of PostgreSQL. It sends statements that need no reply in between in one query. */
export function postgresDialect(
  pool: PostgresPool,
  names: readonly string[],
): Dialect<PostgresConnection, Transaction> {
  const table = quoteName(names)
  const update = `UPDATE ${table} AS t SET state = r.state::float8[], expires_at = greatest(t.expires_at, r.expires_at)`
  const insert = `INSERT INTO ${table} (key, state, expires_at) SELECT r.key, r.state::float8[], r.expires_at`

  async function lock(connection: PostgresConnection, keys: readonly string[]): Promise<LockedStates> {
    const [, , locked, clock] = await run(
      connection,
      BEGIN,
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      `SELECT r.number, ${encodeAsHex('0', 't.state')} FROM unnest(${keyArray(keys)}) WITH ORDINALITY AS r (key, number) JOIN ${table} AS t ON t.key = r.key ORDER BY t.key FOR UPDATE OF t`,
      `SELECT ${encodeAsHex(CLOCK)}, now() = statement_timestamp()`,
    )
    const [time, hasBegun] = clock?.rows[0] ?? []
    if (hasBegun !== 't') throw openTransactionError() // which pg before 8.21 does not report
    const rows = locked?.rows ?? []
    const states = rows.map(([number, row]) => [keys[Number(number) - 1] ?? '', decode(row).state] as const)
    return { states: new Map(states), nowMs: decode(time).nowMs }
  }

  return {
    name: 'postgres',
    table,
    async acquire() {
      const connection = await acquire(pool, (acquired) => {
        acquired.on('error', ignore) // the current query also rejects with it
      })
      if (!isInTransaction(connection)) return connection
      connection.release(true) // the server rolls it back
      throw openTransactionError()
    },
    release(connection) {
      connection.removeListener('error', ignore)
      connection.release()
    },
    destroy: (connection) => connection.release(true),
    rollback: (connection) => run(connection, 'ROLLBACK'),
    async transact(connection, runInside) {
      const writes: string[] = []
      const result = await runInside({ connection, writes })
      await run(connection, ...writes, 'COMMIT')
      return result
    },
    lock: ({ connection }, keys) => lock(connection, keys),
    write({ writes }, { updated, inserted, deleted }) {
      if (updated.length > 0) writes.push(`${update} FROM ${rowTable(updated)} WHERE t.key = r.key`)
      if (inserted.length > 0) writes.push(`${insert} FROM ${rowTable(inserted)}`)
      if (deleted.length > 0) writes.push(`DELETE FROM ${table} WHERE key = ANY(${keyArray(deleted)})`)
    },
    chargeEach: chargeEach(table),
    documents: postgresDocuments(names),
    async removeExpired(connection, limit) {
      const expired = `SELECT key FROM ${table} WHERE expires_at < date_part('epoch', now())::bigint ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`
      const [, deleted] = await run(
        connection,
        BEGIN,
        `DELETE FROM ${table} WHERE key = ANY(ARRAY(${expired})) RETURNING 1`,
        'COMMIT',
      )
      return deleted?.rows.length ?? 0
    },
    prepare: (connection) => prepareTables(connection, names),
  }
}

function ignore(): void {}
