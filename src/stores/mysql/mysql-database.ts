import type { State } from '../../policies/policy.js'
import { decideParts } from '../decide-parts.js'
import { borrow, type Lending } from '../sql/borrow.js'
import type { Database, Found, Row } from '../sql/database.js'
import { expiryS } from '../sql/expiry.js'
import { rowKey } from '../sql/row-key.js'
import { bytesOf, stateIn } from '../state-bytes.js'
import type { Part } from '../store.js'
import { type MysqlConnection, type MysqlPromisePool, rowsOf, writtenBy } from './mysql-client.js'
import { isDuplicate, isTemporary, mendFor } from './mysql-errors.js'
import { mysqlSchema, quoted } from './mysql-schema.js'

/** Microseconds since the Unix epoch when the statement began, whatever the time zone of the connection is. */
const BEGUN = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
/** The same at this moment: a statement may have waited for a lock. */
const CLOCK = `${BEGUN} + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))`

/** Whatever `completion_type` says. */
const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE'
const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE'

/** What the store asks of MySQL and MariaDB. */
export function mysqlDatabase(pool: MysqlPromisePool, names: readonly string[]): Database {
  const table = quoted(names)
  const lending: Lending<MysqlConnection> = {
    take: () => pool.getConnection(),
    release: (connection) => connection.release(),
    rollback: (connection) => text(connection, ROLLBACK),
    destroy: (connection) => connection.destroy(),
  }

  async function lock(connection: MysqlConnection, keys: readonly string[]): Promise<Found> {
    const sql = `SELECT \`key\`, state, ${CLOCK} FROM ${table} WHERE \`key\` IN (${keys.map(hex)}) ORDER BY \`key\` LIMIT ${keys.length} FOR UPDATE`
    const rows = await rowsOf(text(connection, sql))
    const states = new Map(rows.map(([key, state]) => [String(key), stateOf(state)]))
    const clocks = rows.length > 0 ? rows.map(([, , micros]) => micros) : await readClock(connection)
    return { states, nowMs: Math.max(...clocks.map(Number)) / 1000 } // that of the row which was locked last
  }

  async function readClock(connection: MysqlConnection): Promise<readonly unknown[]> {
    return (await rowsOf(text(connection, `SELECT ${BEGUN}`))).map(([micros]) => micros)
  }

  async function write(connection: MysqlConnection, rows: readonly Row[], onDuplicate = ''): Promise<void> {
    if (rows.length === 0) return
    const values = rows.map(
      ({ key, state, expiresAtS }) => `(${hex(key)},x'${bytesOf(state).toString('hex')}',${expiresAtS})`,
    )
    await text(connection, `INSERT INTO ${table} (\`key\`, state, expires_at) VALUES ${values}${onDuplicate}`)
  }

  async function remove(connection: MysqlConnection, keys: readonly string[], and = ''): Promise<void> {
    if (keys.length > 0)
      await text(connection, `DELETE FROM ${table} WHERE \`key\` IN (${keys.map(hex)})${and}`)
  }

  const transact: Database['transact'] = (keys, work) =>
    borrow(lending, async (connection) => {
      await begin(connection)
      const { changed, added, removed } = work(await lock(connection, keys))
      // One after the other: a deadlock ends the transaction, and what came behind it would be outside.
      const update = ' ON DUPLICATE KEY UPDATE state = VALUES(state), expires_at = VALUES(expires_at)'
      await write(connection, changed, update)
      await write(connection, added)
      await remove(connection, removed)
      await text(connection, COMMIT)
    })

  /** Reads, decides, and writes where the row is still as it was. */
  const chargeAlone: Database['chargeAlone'] = (part) =>
    borrow(lending, async (connection) => {
      const key = Buffer.from(rowKey(part.key))
      const sql = `SELECT (SELECT state FROM ${table} WHERE \`key\` = ?), ${BEGUN}, @@autocommit`
      const [row = []] = await rowsOf(connection.execute({ ...AS_LISTS, sql, values: [key] }))
      const [found, micros, autocommit] = row
      if (Number(autocommit) !== 1) {
        await lending.rollback(connection)
        return undefined
      }
      const state = found === null ? undefined : stateOf(found)
      const nowMs = Number(micros) / 1000
      const { verdict, writes } = decideParts([part], () => state, nowMs)
      const [next] = writes.values()
      const isDone = next === undefined || (await put(connection, part, state, next.state, nowMs))
      return isDone ? verdict : undefined
    })

  async function put(
    connection: MysqlConnection,
    { key, policy }: Part,
    state: State | undefined,
    next: State,
    nowMs: number,
  ): Promise<boolean> {
    const bytes = Buffer.from(rowKey(key))
    const expiresAtS = expiryS(policy, next, nowMs)
    if (state === undefined) {
      const sql = `INSERT INTO ${table} (\`key\`, state, expires_at) VALUES (?, ?, ?)`
      return connection.execute({ sql, values: [bytes, bytesOf(next), expiresAtS] }).then(
        () => true,
        (error: unknown) => {
          if (isDuplicate(error)) return false
          throw error
        },
      )
    }
    const sql = `UPDATE ${table} SET state = ?, expires_at = ? WHERE \`key\` = ? AND state = ?`
    const values = [bytesOf(next), expiresAtS, bytes, bytesOf(state)]
    return (await writtenBy(connection.execute({ sql, values }))) === 1
  }

  const removeExpired: Database['removeExpired'] = (most) =>
    borrow(lending, async (connection) => {
      const name = `'headgate purge ${names.join('.').slice(-40)}'`
      const [[isOurs] = []] = await rowsOf(text(connection, `SELECT GET_LOCK(${name}, 0)`))
      if (Number(isOurs) !== 1) return 0
      try {
        return await removeFirst(connection, most)
      } finally {
        await text(connection, `SELECT RELEASE_LOCK(${name})`)
      }
    })

  /** The rows are found first and then removed by their keys, so that they are locked in the order in which charges lock them. */
  async function removeFirst(connection: MysqlConnection, most: number): Promise<number> {
    const isExpired = 'expires_at < UNIX_TIMESTAMP()'
    await begin(connection)
    const sql = `SELECT \`key\` FROM ${table} WHERE ${isExpired} ORDER BY expires_at LIMIT ${most}`
    const keys = (await rowsOf(text(connection, sql))).map(([key]) => String(key)).sort()
    await remove(connection, keys, ` AND ${isExpired}`)
    await text(connection, COMMIT)
    return keys.length
  }

  return {
    name: 'mysql',
    transact,
    chargeAlone,
    removeExpired,
    isTemporary,
    mendFor: (error) => mendFor(error, table),
    prepare: () =>
      borrow(lending, (connection) => text(connection, mysqlSchema(names.join('.')))).then(() => {}),
  }
}

/** Begins a transaction at READ COMMITTED, and leaves the level of those that follow as it is. */
async function begin(connection: MysqlConnection): Promise<void> {
  await text(connection, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
  await text(connection, 'START TRANSACTION')
}

/** Rows come as lists, whatever the user has told the pool. */
const AS_LISTS = {
  rowsAsArray: true,
  nestTables: false,
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const

function text(connection: MysqlConnection, sql: string): Promise<[unknown, unknown]> {
  return connection.query({ ...AS_LISTS, sql })
}

function hex(key: string): string {
  return `x'${Buffer.from(key).toString('hex')}'`
}

function stateOf(bytes: unknown): State {
  const state = Buffer.isBuffer(bytes) ? stateIn(bytes) : undefined
  if (state === undefined) throw new Error('a row holds no state')
  return state
}
