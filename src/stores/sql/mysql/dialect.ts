import type { LockedStates } from '../../builders/transaction-writes.js'
import { decodeState, encodeState } from '../../shared/state-codec.js'
import type { Row } from '../changes.js'
import type { Dialect } from '../dialect.js'
import { acquire, type MysqlCallbackPool, type MysqlConnection, run } from './client.js'
import { mysqlDocuments } from './documents.js'
import { prepareTables, quoteName } from './schema.js'
import { singleCharge } from './single-charge.js'
import { begin, CLOCK, COMMIT, deleteRows, hex, LOCK_WAIT, ROLLBACK, STATEMENT_START } from './statements.js'

/** Keeps the server off the index of `expires_at`, where it would lock the first live row. */
const STILL_EXPIRED = ' AND expires_at + 0 < UNIX_TIMESTAMP()'

/** Returns whether a value is a key of a row: bytes, or text in a table that the operator created. */
function isBytes(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value)
}

/** Creates the dialect of MySQL and MariaDB. */
export function mysqlDialect(pool: MysqlCallbackPool, names: readonly string[]): Dialect<MysqlConnection> {
  const table = quoteName(names)

  async function lock(connection: MysqlConnection, keys: readonly string[]): Promise<LockedStates> {
    const sql = `${LOCK_WAIT}SELECT \`key\`, state, ${CLOCK} FROM ${table} WHERE \`key\` IN (${keys.map(hex)}) ORDER BY \`key\` LIMIT ${keys.length} FOR UPDATE`
    const rows = await run(connection, sql)
    const states = new Map(rows.map(([key, state]) => [String(key), decodeState(state)]))
    const clocks = rows.length > 0 ? rows : await run(connection, `SELECT 0, 0, ${STATEMENT_START}`)
    const lastLockUs = Math.max(...clocks.map(([, , micros]) => Number(micros)))
    return { states, nowMs: lastLockUs / 1000 }
  }

  async function insert(connection: MysqlConnection, rows: readonly Row[], onDuplicate = ''): Promise<void> {
    if (rows.length === 0) return
    const values = rows.map(
      ({ key, state, expiresAtS }) => `(${hex(key)},${hex(encodeState(state))},${expiresAtS})`,
    )
    await run(connection, `INSERT INTO ${table} (\`key\`, state, expires_at) VALUES ${values}${onDuplicate}`)
  }

  return {
    name: 'mysql',
    table,
    acquire: () => acquire(pool),
    release: (connection) => connection.release(),
    destroy: (connection) => connection.destroy(),
    rollback: (connection) => run(connection, ROLLBACK),
    async transact(connection, runInside) {
      await begin(connection)
      const result = await runInside(connection)
      await run(connection, COMMIT)
      return result
    },
    lock,
    // One by one: a deadlock ends the transaction, and a statement already sent would run outside it.
    async write(connection, { updated, inserted, deleted }) {
      const expiry = 'GREATEST(expires_at, VALUES(expires_at))'
      const update = ` ON DUPLICATE KEY UPDATE state = VALUES(state), expires_at = ${expiry}`
      await insert(connection, updated, update)
      await insert(connection, inserted)
      await deleteRows(connection, table, deleted)
    },
    chargeEach: singleCharge(table),
    documents: mysqlDocuments(names),
    // Of processes that purge the same rows, all but one delete nothing and stop.
    async removeExpired(connection, limit) {
      await begin(connection)
      const expired = `SELECT \`key\` FROM ${table} WHERE expires_at < UNIX_TIMESTAMP() ORDER BY expires_at LIMIT ${limit}`
      const keys = (await run(connection, expired)).map(([key]) => key).filter(isBytes)
      const deleted = await deleteRows(connection, table, keys, STILL_EXPIRED) // locks in order
      await run(connection, COMMIT)
      return deleted > 0 ? keys.length : 0 // a full batch, even if some rows were charged again
    },
    prepare: (connection) => prepareTables(connection, names),
  }
}
