import type { LockedStates } from '../../builders/decide-batch.js'
import { decodeState, encodeState } from '../../shared/state-bytes.js'
import type { Row } from '../changes.js'
import type { Dialect } from '../dialect.js'
import { acquire, type MysqlCallbackPool, type MysqlConnection, run } from './client.js'
import { mysqlDocuments } from './documents.js'
import { prepareTables, quoteName } from './schema.js'
import { singleCharge } from './single-charge.js'
import {
  beginWith,
  CLOCK,
  COMMIT,
  deleteStatement,
  hex,
  LOCK_WAIT,
  ROLLBACK,
  runInOrder,
} from './statements.js'

/** Keeps the server off the index of `expires_at`, where it would lock the first live row. */
const STILL_EXPIRED = ' AND expires_at + 0 < UNIX_TIMESTAMP()'

/** Makes an `INSERT` update the rows that exist. */
const ON_DUPLICATE_KEY =
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
    // Its limit applies to the whole union, and overrides `sql_select_limit`.
    const clock = `SELECT NULL, ${CLOCK} LIMIT ${keys.length + 1}`
    const rows = await beginWith(connection, `${LOCK_WAIT}(${locked}) UNION ALL ${clock}`)
    const states = new Map<string, unknown>()
    let nowMs = Number.NaN
    for (const [key, value] of rows) {
      if (key === null) nowMs = Number(value) / 1000
      else states.set(String(key), decodeState(value))
    }
    return { states, nowMs }
  }

  function insertStatement(rows: readonly Row[]): string {
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
      if (updated.length > 0) writes.push(insertStatement(updated) + ON_DUPLICATE_KEY)
      if (inserted.length > 0) writes.push(insertStatement(inserted))
      if (deleted.length > 0) writes.push(deleteStatement(table, deleted))
    },
    chargeEach: singleCharge(table),
    documents: mysqlDocuments(names),
    // Of processes that purge the same rows, all but one delete nothing and stop.
    async removeExpired(connection, limit) {
      const expired = `SELECT \`key\` FROM ${table} WHERE expires_at < UNIX_TIMESTAMP() ORDER BY expires_at LIMIT ${limit}`
      const keys = (await beginWith(connection, expired)).map(([key]) => key).filter(isBytes)
      const deletion = deleteStatement(table, keys, STILL_EXPIRED) // locks in order
      const { affectedRows = 0 } = keys.length > 0 ? await run(connection, deletion) : {}
      await run(connection, COMMIT)
      return affectedRows > 0 ? keys.length : 0 // a full batch, even if some rows were charged again
    },
    prepare: (connection) => prepareTables(connection, names),
  }
}
