import { groupBy } from '../../../util/group-by.js'
import type { ChargeResult, Part } from '../../operation.js'
import { evaluateCharge } from '../../shared/apply-batch.js'
import { isStateOf } from '../../shared/state-codec.js'
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
import { CLOCK, type Decoded, decode, encodeAsHex, keyList } from './codec.js'
import { canTake, takeStatements } from './single-statement.js'

/** The most statements in place of a transaction, which takes two round trips. */
const MAX_STATEMENTS = 2

/** A charge to decide. */
interface Pending {
  readonly part: Part
  readonly key: Buffer
  result?: ChargeResult
}

/**
 * Creates a function that decides charges of one part each by a statement that takes the units, one for those of
 * a policy and a cost. For those that it refuses, another statement reads the rows. Leaves to a transaction what
 * neither can decide. (MySQL's compare-and-swap would cost each allowed charge a second round trip.)
 */
export function chargeEach(table: string): NonNullable<Dialect<PostgresConnection>['chargeEach']> {
  const takeOf = takeStatements(table)
  const readOf = preparedStatement(
    `SELECT ${encodeAsHex(CLOCK, 't.state')}, encode(r.key, 'hex') FROM unnest($1::bytea[]) AS r (key) LEFT JOIN ${table} AS t ON t.key = r.key`,
  )
  let hasNames = true

  /** Sends a statement, unnamed once any connection has lost a prepared one (`DISCARD ALL`, or a pooler). */
  async function send(connection: PostgresConnection, query: PostgresQuery): Promise<PostgresReply['rows']> {
    if (!hasNames) query.name = undefined
    try {
      const { rows } = (await connection.query(query)) as PostgresReply
      if (isInTransaction(connection)) throw openTransactionError() // left by a query that was not awaited
      return rows
    } catch (error) {
      if (POSTGRES_STATEMENT_LOST.includes(codeOf(error))) hasNames = false
      throw error
    }
  }

  async function take(connection: PostgresConnection, charges: readonly Pending[]): Promise<void> {
    const { policy, cost } = (charges[0] as Pending).part
    if (!canTake(policy)) return
    const keys = charges.map(({ key }) => key)
    const rows = await send(connection, takeOf(policy, keys, cost))
    for (const [charge, { state, nowMs }] of rowsOf(charges, rows)) {
      const standing = policy.take(state, nowMs, 0)
      charge.result = { type: 'charge', allowed: true, atMs: nowMs, parts: [standing] }
    }
  }

  async function read(connection: PostgresConnection, charges: readonly Pending[]): Promise<void> {
    const rows = await send(connection, readOf([keyList(charges.map(({ key }) => key))]))
    for (const [charge, { exists, state, nowMs }] of rowsOf(charges, rows)) {
      const { part } = charge
      if (exists && !isStateOf(part.policy, state)) continue // the transaction says so
      const { verdict, writes } = evaluateCharge([part], () => state, nowMs)
      if (writes.size === 0) charge.result = verdict
    }
  }

  return async (connection, parts) => {
    const charges = parts.map((part): Pending => ({ part, key: Buffer.from(rowKey(part.key)) }))
    const takeable = charges.filter(({ part: { policy } }) => canTake(policy))
    const groups = groupsOf(takeable.filter(({ part: { policy, cost } }) => cost > 0 && cost <= policy.limit))
    if (groups.length <= MAX_STATEMENTS) {
      for (const group of groups) await take(connection, group)
      const refused = takeable.filter(({ result }) => result === undefined)
      if (refused.length > 0) await read(connection, refused)
    }
    return charges.map(({ result }) => result)
  }
}

/** Returns the charges of each policy and cost, in the order of their keys, so that statements lock in order. */
function groupsOf(charges: readonly Pending[]): readonly (readonly Pending[])[] {
  const ordered = charges.toSorted((a, b) => a.key.compare(b.key))
  const byPolicy = groupBy(ordered, ({ part }) => part.policy)
  return Array.from(byPolicy.values()).flatMap((group) => [
    ...groupBy(group, ({ part }) => part.cost).values(),
  ])
}

/** Returns the charge of each row. */
function* rowsOf(charges: readonly Pending[], rows: PostgresReply['rows']): Iterable<[Pending, Decoded]> {
  const [only] = charges.length === 1 ? charges : []
  const byKey =
    only === undefined ? new Map(charges.map((each) => [each.key.toString('hex'), each])) : undefined
  for (const [bytes, key] of rows) {
    const charge = only ?? byKey?.get(key ?? '')
    if (charge !== undefined) yield [charge, decode(bytes)]
  }
}
