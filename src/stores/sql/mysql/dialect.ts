import { bytesOf, stateIn } from '../../shared/state-codec.js'
import type { Database, Found, Row } from '../dialect.js'
import { borrower } from '../with-connection.js'
import { connectionOf, type MysqlCallbackPool, type MysqlConnection, text } from './client.js'
import { BEGUN, CLOCK } from './clock.js'
import { hintFor, isTemporary } from './errors.js'
import { prepareTable } from './prepare-table.js'
import { removeExpiredRows } from './purge.js'
import { quoted } from './schema.js'
import { singleCharge } from './single-charge.js'
import { begin, COMMIT, hex, ROLLBACK, removeRows } from './statements.js'

/**
 * How many seconds a transaction waits for a row that somebody else has locked, while it holds others itself: MariaDB reads this, and
 * MySQL has its `innodb_lock_wait_timeout` alone.
 */
const PATIENCE = '/*M!100301 WAIT 1 */'

/** What the store asks of MySQL and MariaDB. */
export function mysqlDatabase(pool: MysqlCallbackPool, names: readonly string[]): Database {
  const table = quoted(names)
  const decideAlone = singleCharge(table)
  const borrow = borrower<MysqlConnection>({
    take: () => connectionOf(pool),
    release: (connection) => connection.release(),
    rollback: (connection) => text(connection, ROLLBACK),
    destroy: (connection) => connection.destroy(),
  })

  async function lock(connection: MysqlConnection, keys: readonly string[]): Promise<Found> {
    const sql = `SELECT \`key\`, state, ${CLOCK} FROM ${table} WHERE \`key\` IN (${keys.map(hex)}) ORDER BY \`key\` LIMIT ${keys.length} FOR UPDATE ${PATIENCE}`
    const rows = await text(connection, sql)
    const states = new Map(rows.map(([key, state]) => [String(key), stateIn(state)]))
    const clocks = rows.length > 0 ? rows.map(([, , micros]) => micros) : await readClock(connection)
    return { states, nowMs: Math.max(...clocks.map(Number)) / 1000 } // that of the row which was locked last
  }

  async function readClock(connection: MysqlConnection): Promise<readonly unknown[]> {
    return (await text(connection, `SELECT ${BEGUN}`)).map(([micros]) => micros)
  }

  async function write(connection: MysqlConnection, rows: readonly Row[], onDuplicate = ''): Promise<void> {
    if (rows.length === 0) return
    const values = rows.map(
      ({ key, state, expiresAtS }) => `(${hex(key)},x'${bytesOf(state).toString('hex')}',${expiresAtS})`,
    )
    await text(connection, `INSERT INTO ${table} (\`key\`, state, expires_at) VALUES ${values}${onDuplicate}`)
  }

  const transact: Database['transact'] = (keys, work) =>
    borrow(async (connection) => {
      await begin(connection)
      const { changed, added, removed } = work(await lock(connection, keys))
      // One after the other: a deadlock ends the transaction, and what came behind it would be outside.
      const update = ' ON DUPLICATE KEY UPDATE state = VALUES(state), expires_at = VALUES(expires_at)'
      await write(connection, changed, update)
      await write(connection, added)
      if (removed.length > 0) await removeRows(connection, table, removed)
      await text(connection, COMMIT)
    })

  return {
    name: 'mysql',
    transact,
    chargeAlone: (part) => borrow((connection) => decideAlone(connection, part)),
    removeExpired: (most) =>
      borrow((connection) => removeExpiredRows(connection, table, `headgate purge ${names.join('.')}`, most)),
    isTemporary,
    hintFor: (error) => hintFor(error, table),
    prepare: () => borrow((connection) => prepareTable(connection, names)),
  }
}
