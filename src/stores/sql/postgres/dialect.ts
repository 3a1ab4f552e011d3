import type { Database, Found } from '../dialect.js'
import { borrower } from '../with-connection.js'
import { type PostgresConnection, type PostgresPool, type PostgresReply, query, repliesOf } from './client.js'
import { CLOCK, readSent, sent } from './codec.js'
import { hintFor, InTransaction, isTemporary } from './errors.js'
import { prepareTable } from './prepare-table.js'
import { removeExpiredRows } from './purge.js'
import { byteaArray, deleting, inserting, updating } from './row-arrays.js'
import { quoted } from './schema.js'
import { singleCharge } from './single-charge.js'

/** How long a transaction waits for a row that somebody else has locked, while it holds others itself. */
const LOCK_TIMEOUT_MS = 1000

/** What the store asks of PostgreSQL. Statements that need no answer in between go together in one query. */
export function postgresDatabase(pool: PostgresPool, names: readonly string[]): Database {
  const table = quoted(names)
  const decideAlone = singleCharge(table)
  const borrow = borrower<PostgresConnection>({
    async take() {
      const connection = await pool.connect()
      if (isInTransaction(connection)) {
        connection.release(true) // the server rolls it back
        throw new InTransaction()
      }
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

  /** By the numbers of the keys, rows take fewer bytes than by the keys. */
  async function lock(connection: PostgresConnection, keys: readonly string[]): Promise<Found> {
    const [, , rows = NONE, clock = NONE] = await repliesOf(connection, [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      `SELECT r.number, ${sent('0', 't.state')} FROM unnest(${byteaArray(keys)}) WITH ORDINALITY AS r (key, number) JOIN ${table} AS t ON t.key = r.key ORDER BY t.key FOR UPDATE OF t`,
      `SELECT ${sent(CLOCK)}`,
    ])
    const states = new Map(
      rows.rows.map(([number, sent]) => [keys[Number(number) - 1] as string, readSent(sent).state]),
    )
    return { states, nowMs: readSent(clock.rows[0]?.[0]).nowMs }
  }

  const transact: Database['transact'] = (keys, work) =>
    borrow(async (connection) => {
      const { changed, added, removed } = work(await lock(connection, keys))
      await repliesOf(connection, [
        ...(changed.length > 0 ? [updating(table, changed)] : []),
        ...(added.length > 0 ? [inserting(table, added)] : []),
        ...(removed.length > 0 ? [deleting(table, removed)] : []),
        'COMMIT',
      ])
    })

  return {
    name: 'postgres',
    transact,
    chargeAlone: (part) =>
      borrow(async (connection) => {
        const verdict = await decideAlone(connection, part)
        if (isInTransaction(connection)) throw new InTransaction() // begun by a query that was not awaited
        return verdict
      }),
    removeExpired: (most) =>
      borrow((connection) => removeExpiredRows(connection, table, `headgate purge ${names.join('.')}`, most)),
    isTemporary,
    hintFor: (error) => hintFor(error, table),
    prepare: () => borrow((connection) => prepareTable(connection, names)),
  }
}

function isInTransaction(connection: PostgresConnection): boolean {
  const status = connection.getTransactionStatus?.() ?? 'I'
  return status !== 'I'
}

function ignore(): void {}

const NONE: PostgresReply = { rows: [] }
