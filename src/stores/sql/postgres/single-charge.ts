import type { Part } from '../../operation.js'
import { evaluateCharge } from '../../shared/apply-batch.js'
import { foreignKeyError, isStateOf } from '../../shared/state-codec.js'
import type { Dialect } from '../dialect.js'
import { codeOf, openTransactionError, POSTGRES_STATEMENT_LOST } from '../errors.js'
import { rowKey } from '../table.js'
import {
  isInTransaction,
  type PostgresConnection,
  type PostgresQuery,
  type PostgresReply,
  preparedStatement,
} from './client.js'
import { CLOCK, type Decoded, decode, encodeAsHex } from './codec.js'
import { canTake, takeStatements } from './single-statement.js'

/**
 * Creates a function that decides a charge of one part by a statement that takes the units, and, if that
 * refuses, by one that reads the row. Returns `undefined`, and changes nothing, if neither can decide.
 * (MySQL's compare-and-swap would cost each allowed charge a second round trip.)
 */
export function singleCharge(table: string): NonNullable<Dialect<PostgresConnection>['chargeSingle']> {
  const take = takeStatements(table)
  const read = preparedStatement(
    `SELECT ${encodeAsHex(CLOCK, `(SELECT state FROM ${table} WHERE key = $1)`)}`,
  )
  let hasNames = true

  /** Sends a statement, unnamed once any connection has lost a prepared one (`DISCARD ALL`, or a pooler). */
  async function send(
    connection: PostgresConnection,
    { key, policy }: Part,
    query: PostgresQuery,
  ): Promise<Decoded | undefined> {
    if (!hasNames) query.name = undefined
    try {
      const { rows } = (await connection.query(query)) as PostgresReply
      if (isInTransaction(connection)) throw openTransactionError() // left by a query that was not awaited
      const decoded = rows[0] && decode(rows[0][0])
      if (decoded?.exists && !isStateOf(policy, decoded.state)) throw foreignKeyError('postgres', key)
      return decoded
    } catch (error) {
      if (POSTGRES_STATEMENT_LOST.includes(codeOf(error))) hasNames = false
      throw error
    }
  }

  return async (connection, part) => {
    const { policy, cost } = part
    if (!canTake(policy)) return undefined
    const key = Buffer.from(rowKey(part.key))
    const taken =
      cost > 0 && cost <= policy.limit ? await send(connection, part, take(policy, key, cost)) : undefined
    if (taken !== undefined) {
      const standing = policy.take(taken.state, taken.nowMs, 0)
      return { type: 'charge', allowed: true, atMs: taken.nowMs, parts: [standing] }
    }
    const row = await send(connection, part, read([key]))
    if (row === undefined) return undefined
    const { verdict, writes } = evaluateCharge([part], () => row.state, row.nowMs)
    return writes.size === 0 ? verdict : undefined
  }
}
