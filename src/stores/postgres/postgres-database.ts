import type { State } from '../../policies/policy.js'
import { borrower } from '../sql/borrow.js'
import type { Database, Found, Row } from '../sql/database.js'
import { removeExpiredRows } from './expired-rows.js'
import { loneCharge } from './lone-charge.js'
import { type PostgresConnection, type PostgresPool, query, repliesOf } from './postgres-client.js'
import { isTemporary, mendFor } from './postgres-errors.js'
import { quoted } from './postgres-schema.js'
import { prepareTable } from './prepare-table.js'
import { CLOCK, readSent, sent } from './sent.js'

/** How long a transaction waits for a row that somebody else has locked, while it holds others itself. */
const LOCK_TIMEOUT_MS = 1000

/** What the store asks of PostgreSQL. Statements that need no answer in between go together in one query. */
export function postgresDatabase(pool: PostgresPool, names: readonly string[]): Database {
  const table = quoted(names)
  const decideAlone = loneCharge(table)
  const borrow = borrower<PostgresConnection>({
    async take() {
      const connection = await pool.connect()
      connection.on('error', ignore) // what is under way rejects with it as well
      return connection
    },
    release(connection) {
      connection.removeListener('error', ignore)
      connection.release()
    },
    rollback: (connection) => connection.query(query('ROLLBACK')),
    destroy: (connection) => connection.release(true),
  })

  async function lock(connection: PostgresConnection, keys: readonly string[]): Promise<Found> {
    const byHex = new Map(keys.map((key) => [hex(key), key]))
    const [, , rows, clock] = await repliesOf(connection, [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      `SELECT encode(key, 'hex'), ${sent('0', 'state')} FROM ${table} WHERE key = ANY(ARRAY[${keys.map(bytea)}]::bytea[]) ORDER BY key FOR UPDATE`,
      `SELECT ${sent(CLOCK)}`,
    ])
    const found = rows?.rows.map(([key, sent]) => [byHex.get(key ?? ''), stateIn(sent)] as const)
    return {
      states: new Map(found as [string, State | undefined][]),
      nowMs: readSent(clock?.rows[0]?.[0]).nowMs,
    }
  }

  function inserting(rows: readonly Row[]): string {
    const values = rows.map(({ key, state, expiresAtS }) => `(${bytea(key)}, '{${state}}', ${expiresAtS})`)
    return `INSERT INTO ${table} (key, state, expires_at) VALUES ${values}`
  }

  const transact: Database['transact'] = (keys, work) =>
    borrow(async (connection) => {
      const { changed, added, removed } = work(await lock(connection, keys))
      const update =
        'ON CONFLICT (key) DO UPDATE SET state = excluded.state, expires_at = excluded.expires_at'
      await repliesOf(connection, [
        ...(changed.length > 0 ? [`${inserting(changed)} ${update}`] : []),
        ...(added.length > 0 ? [inserting(added)] : []),
        ...(removed.length > 0
          ? [`DELETE FROM ${table} WHERE key = ANY(ARRAY[${removed.map(bytea)}]::bytea[])`]
          : []),
        'COMMIT',
      ])
    })

  return {
    name: 'postgres',
    transact,
    chargeAlone: (part) => borrow((connection) => decideAlone(connection, part)),
    removeExpired: (most) =>
      borrow((connection) => removeExpiredRows(connection, table, `headgate purge ${names.join('.')}`, most)),
    isTemporary,
    mendFor: (error) => mendFor(error, table),
    prepare: () => borrow((connection) => prepareTable(connection, names)),
  }
}

function ignore(): void {}

function hex(key: string): string {
  return Buffer.from(key).toString('hex')
}

function bytea(key: string): string {
  return `E'\\\\x${hex(key)}'`
}

/** Nothing for a state that is none. */
function stateIn(sent: string | null | undefined): State | undefined {
  try {
    return readSent(sent).state
  } catch {
    return undefined // the charge that needs it says so
  }
}
