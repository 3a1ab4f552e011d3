import type { State } from '../../policies/policy.js'
import { decideParts } from '../decide-parts.js'
import { borrow, type Lending } from '../sql/borrow.js'
import type { Database, Found, Row } from '../sql/database.js'
import { rowKey } from '../sql/row-key.js'
import type { Part, Verdict } from '../store.js'
import { CLOCK, NOW, sent } from './clock.js'
import { takingStatements } from './one-statement.js'
import {
  type PostgresConnection,
  type PostgresPool,
  type PostgresQuery,
  type PostgresReply,
  preparing,
  query,
} from './postgres-client.js'
import { isTemporary, mendFor } from './postgres-errors.js'
import { postgresSchema, quoted } from './postgres-schema.js'

/** What the store asks of PostgreSQL. Statements that need no answer in between go together in one query. */
export function postgresDatabase(pool: PostgresPool, names: readonly string[]): Database {
  const table = quoted(names)
  const taking = takingStatements(table)
  const looking = preparing(
    `SELECT (SELECT ${sent('state', 'array')} FROM ${table} WHERE key = $1), ${sent(NOW)}`,
  )
  const lending: Lending<PostgresConnection> = {
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
  }

  async function lock(connection: PostgresConnection, keys: readonly string[]): Promise<Found> {
    const byHex = new Map(keys.map((key) => [hex(key), key]))
    const [, rows, clock] = await repliesOf(connection, [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SELECT encode(key, 'hex'), ${sent('state', 'array')} FROM ${table} WHERE key = ANY(ARRAY[${keys.map(bytea)}]::bytea[]) ORDER BY key FOR UPDATE`,
      `SELECT ${sent(CLOCK)}`,
    ])
    const found = rows?.rows.map(([key, state]) => [byHex.get(key ?? ''), stateIn(state)] as const)
    return { states: new Map(found as [string, State][]), nowMs: numberIn(clock?.rows[0]?.[0]) }
  }

  function inserting(rows: readonly Row[]): string {
    const values = rows.map(({ key, state, expiresAtS }) => `(${bytea(key)}, '{${state}}', ${expiresAtS})`)
    return `INSERT INTO ${table} (key, state, expires_at) VALUES ${values}`
  }

  const transact: Database['transact'] = (keys, work) =>
    borrow(lending, async (connection) => {
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

  const chargeAlone: Database['chargeAlone'] = (part) =>
    borrow(lending, async (connection) => (await take(connection, part)) ?? look(connection, part))

  /** Takes, or does nothing. A look at the state that follows has the figures of the taking. */
  async function take(
    connection: PostgresConnection,
    { key, policy, cost }: Part,
  ): Promise<Verdict | undefined> {
    if (cost === 0 || cost > policy.limit) return undefined
    const statement = taking(policy, Buffer.from(rowKey(key)), cost)
    if (statement === undefined) return undefined
    const [row] = (await replyOf(connection, statement)).rows
    if (row === undefined) return undefined
    const nowMs = numberIn(row[1])
    const { next: _, ...figures } = policy.take(stateIn(row[0]), nowMs, 0)
    return { allowed: true, atMs: nowMs, parts: [figures] }
  }

  /** Decides where nothing has to be written. */
  async function look(connection: PostgresConnection, part: Part): Promise<Verdict | undefined> {
    const [row = []] = (await replyOf(connection, looking([Buffer.from(rowKey(part.key))]))).rows
    const state = row[0] === null ? undefined : stateIn(row[0])
    const { verdict, writes } = decideParts([part], () => state, numberIn(row[1]))
    return writes.size === 0 ? verdict : undefined
  }

  const removeExpired: Database['removeExpired'] = (most) =>
    borrow(lending, async (connection) => {
      const [, locked] = await repliesOf(connection, [
        'BEGIN ISOLATION LEVEL READ COMMITTED',
        `SELECT pg_try_advisory_xact_lock(hashtext('headgate purge ${names.join('.')}'))`,
      ])
      const isOurs = locked?.rows[0]?.[0] === 't'
      const expired = `SELECT key FROM ${table} WHERE expires_at < date_part('epoch', now())::bigint ORDER BY expires_at LIMIT ${most} FOR UPDATE SKIP LOCKED`
      const removing = `DELETE FROM ${table} WHERE key = ANY(ARRAY(${expired})) RETURNING 1`
      const [gone] = await repliesOf(
        connection,
        isOurs ? [removing, 'COMMIT'] : ['ROLLBACK', 'SELECT 1 LIMIT 0'],
      )
      return gone?.rows.length ?? 0
    })

  return {
    name: 'postgres',
    transact,
    chargeAlone,
    removeExpired,
    isTemporary,
    mendFor: (error) => mendFor(error, table),
    prepare: () =>
      borrow(lending, async (connection) => {
        const alone = `SELECT pg_advisory_xact_lock(hashtext('headgate prepare ${names.join('.')}'))` // IF NOT EXISTS races
        await repliesOf(connection, ['BEGIN', alone, postgresSchema(names.join('.')), 'COMMIT'])
      }),
  }
}

async function replyOf(connection: PostgresConnection, one: PostgresQuery): Promise<PostgresReply> {
  return (await connection.query(one)) as PostgresReply
}

/** Sends statements in one query, each with a reply. */
async function repliesOf(
  connection: PostgresConnection,
  statements: readonly string[],
): Promise<readonly PostgresReply[]> {
  const replies = await connection.query(query(statements.join(';')))
  return (Array.isArray(replies) ? replies : [replies]) as PostgresReply[]
}

function ignore(): void {}

function hex(key: string): string {
  return Buffer.from(key).toString('hex')
}

function bytea(key: string): string {
  return `E'\\\\x${hex(key)}'`
}

/** The bytes of what array_send gives that come before the first number, and before each. */
const ARRAY_HEAD = 20
const NUMBER_HEAD = 4

/** The numbers in an array, as `sent` asks for it. */
function stateIn(hexadecimal: string | null | undefined): State {
  const bytes = Buffer.from(hexadecimal ?? '', 'hex')
  const state: number[] = []
  for (let at = ARRAY_HEAD + NUMBER_HEAD; at < bytes.length; at += NUMBER_HEAD + 8)
    state.push(bytes.readDoubleBE(at))
  return state
}

function numberIn(hexadecimal: string | null | undefined): number {
  return Buffer.from(hexadecimal ?? '', 'hex').readDoubleBE(0)
}
