import type { LockedStates } from '../../builders/transaction-writes.js'
import { decodeState, encodeState } from '../../shared/state-codec.js'
import type { Row } from '../changes.js'
import type { Dialect } from '../dialect.js'
import { acquire, type MysqlCallbackPool, type MysqlConnection, run } from './client.js'
import { mysqlDocuments } from './documents.js'
import { prepareTables, quoteName } from './schema.js'
import { singleCharge } from './single-charge.js'
import { begin, CLOCK, COMMIT, deleteRows, hex, LOCK_WAIT, ROLLBACK, runInOrder } from './statements.js'

/** Keeps the server off the index of `expires_at`, where it would lock the first live row. */
const STILL_EXPIRED = ' AND expires_at + 0 < UNIX_TIMESTAMP()'

/** What becomes of rows that exist. */
const UPDATE =
  ' ON DUPLICATE KEY UPDATE state = VALUES(state), expires_at = GREATEST(expires_at, VALUES(expires_at))'

/** Returns whether a value is a key of a row: bytes, or text in a table that the operator created. */
function isBytes(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value)
}

/** A transaction. Its first statement begins it, and its writes are sent with the commit. */
interface Transaction {
  readonly connection: MysqlConnection
  readonly writes: string[]
}

/** Creates the dialect of MySQL and MariaDB. */
export function mysqlDialect(
  pool: MysqlCallbackPool,
  names: readonly string[],
): Dialect<MysqlConnection, Transaction> {
  const table = quoteName(names)

  async function lock({ connection }: Transaction, keys: readonly string[]): Promise<LockedStates> {
    const locked = `SELECT \`key\`, state FROM ${table} WHERE \`key\` IN (${keys.map(hex)}) ORDER BY \`key\` LIMIT ${keys.length} FOR UPDATE`
    const clock = `SELECT NULL, ${CLOCK} LIMIT ${keys.length + 1}` // of all rows: overrides sql_select_limit
    const rows = await begin(connection, `${LOCK_WAIT}(${locked}) UNION ALL ${clock}`)
    const states = new Map<string, unknown>()
    let nowMs = Number.NaN
    for (const [key, value] of rows) {
      if (key === null) nowMs = Number(value) / 1000
      else states.set(String(key), decodeState(value))
    }
    return { states, nowMs }
  }

  function insert(rows: readonly Row[]): string {
    const values = rows.map(
      ({ key, state, expiresAtS }) => `(${hex(key)},${hex(encodeState(state))},${expiresAtS})`,
    )
    return `INSERT INTO ${table} (\`key\`, state, expires_at) VALUES ${values}`
  }

  return {
    name: 'mysql',
    table,
    acquire: () => acquire(pool),
    release: (connection) => connection.release(),
    destroy: (connection) => connection.destroy(),
    rollback: (connection) => run(connection, ROLLBACK),
    async transact(connection, runInside) {
      const writes: string[] = []
      const result = await runInside({ connection, writes })
      await runInOrder(connection, [...writes, COMMIT])
      return result
    },
    lock,
    write({ writes }, { updated, inserted, deleted }) {
      if (updated.length > 0) writes.push(insert(updated) + UPDATE)
      if (inserted.length > 0) writes.push(insert(inserted))
      if (deleted.length > 0) writes.push(deleteRows(table, deleted))
    },
    chargeEach: singleCharge(table),
    documents: mysqlDocuments(names),
    // Of processes that purge the same rows, all but one delete nothing and stop.
    async removeExpired(connection, limit) {
      const expired = `SELECT \`key\` FROM ${table} WHERE expires_at < UNIX_TIMESTAMP() ORDER BY expires_at LIMIT ${limit}`
      const keys = (await begin(connection, expired)).map(([key]) => key).filter(isBytes)
      const deletion = deleteRows(table, keys, STILL_EXPIRED) // locks in order
      const { affectedRows = 0 } = keys.length > 0 ? await run(connection, deletion) : {}
      await run(connection, COMMIT)
      return affectedRows > 0 ? keys.length : 0 // a full batch, even if some rows were charged again
    },
    prepare: (connection) => prepareTables(connection, names),
  }
}
