import type { ChargeResult, Part } from '../../operation.js'
import { evaluateCharge } from '../../shared/apply-batch.js'
import { isStateOf } from '../../shared/state-codec.js'
import type { Dialect } from '../dialect.js'
import { codeOf, isTemporary, openTransactionError, POSTGRES_STATEMENT_LOST } from '../errors.js'
import { rowKey } from '../table.js'
import {
  isInTransaction,
  type PostgresConnection,
  type PostgresQuery,
  type PostgresReply,
  preparedStatement,
} from './client.js'
import { CLOCK, decode, encodeAsHex, hexOf, keyList } from './codec.js'
import { canTake } from './kinds.js'
import { areTakenAlike, takeQueries } from './take-statements.js'

/** The most statements in place of a transaction, which takes two round trips. */
const MAX_STATEMENTS = 2

/** A charge to decide. */
interface Pending {
  readonly parts: readonly Part[]
  /** The keys of the parts' rows, as hexadecimal digits. */
  readonly keys: readonly string[]
  result?: ChargeResult
}

/**
 * Creates a function that decides charges without a transaction. One statement takes the units of all
 * charges with the same policies and costs. Another statement reads the rows of the charges that it did not
 * allow. Whatever neither can decide is left to a transaction. So are charges of several parts with pg
 * before 8.21, whose clients cannot tell whether they are in a transaction. (MySQL's compare-and-swap would
 * cost each allowed charge a second round trip.)
 */
export function chargeEach(table: string): NonNullable<Dialect<PostgresConnection>['chargeEach']> {
  const takeQuery = takeQueries(table)
  const readQuery = preparedStatement(
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
    const [charge] = charges
    if (charge === undefined) return
    const query = takeQuery(
      charge.parts,
      charges.map(({ keys }) => keys),
    )
    const byKey = charges.length === 1 ? undefined : new Map(charges.map((each) => [each.keys[0], each]))
    for (const row of await send(connection, query)) {
      const taken = byKey === undefined ? charge : byKey.get(row.at(-1) ?? '')
      if (taken === undefined) continue
      const states = taken.parts.map((_, i) => decode(row[i]))
      const atMs = states[0]?.nowMs ?? 0
      const parts = taken.parts.map(({ policy }, i) => policy.take(states[i]?.state, atMs, 0))
      taken.result = { type: 'charge', allowed: true, atMs, parts }
    }
  }

  async function read(connection: PostgresConnection, charges: readonly Pending[]): Promise<void> {
    const stored = await send(connection, readQuery([keyList(charges.flatMap(({ keys }) => keys))]))
    const found = new Map(stored.map(([bytes, key]) => [key, decode(bytes)]))
    const nowMs = Math.max(...Array.from(found.values(), (row) => row.nowMs))
    for (const charge of charges) {
      const { parts, keys } = charge
      const rows = new Map(parts.map(({ key }, i) => [key, found.get(keys[i] ?? '')]))
      const isForeign = ({ key, policy }: Part) =>
        rows.get(key)?.exists && !isStateOf(policy, rows.get(key)?.state)
      if (parts.some(isForeign)) continue // the transaction reports the error
      const { verdict, writes } = evaluateCharge(parts, (key) => rows.get(key)?.state, nowMs)
      if (writes.size === 0) charge.result = verdict
    }
  }

  /** Decides what it can. A statement that fails for a temporary reason has changed nothing, and is the last. */
  async function decide(connection: PostgresConnection, takeable: readonly Pending[]): Promise<void> {
    const groups = groupsOf(takeable.filter(({ parts }) => parts.every(canBeAllowed)))
    if (groups.length > MAX_STATEMENTS) return
    try {
      for (const group of groups) await take(connection, group)
      const rest = takeable.filter(({ result }) => result === undefined)
      if (rest.length > 0) await read(connection, rest)
    } catch (error) {
      if (!isTemporary(error)) throw error
    }
  }

  return async (connection, charges) => {
    const pending = charges.map(({ parts }): Pending => ({ parts, keys: parts.map(keyOf) }))
    const mostParts = connection.getTransactionStatus === undefined ? 1 : Number.POSITIVE_INFINITY
    const takeable = pending.filter(
      ({ parts }) => parts.length <= mostParts && parts.every(({ policy }) => canTake(policy)),
    )
    await decide(connection, takeable)
    return pending.map(({ result }) => result)
  }
}

const keyOf = ({ key }: Part) => hexOf(rowKey(key))

const canBeAllowed = ({ policy, cost }: Part) => cost > 0 && cost <= policy.limit

/**
 * Groups charges by their policies and costs, in the order of their first keys, so that statements lock rows
 * in order. Stops once there are too many groups.
 */
function groupsOf(charges: readonly Pending[]): readonly (readonly Pending[])[] {
  const groups: [Pending, ...Pending[]][] = []
  for (const charge of charges.toSorted(byFirstKey)) {
    const group = groups.find(([{ parts }]) => areTakenAlike(parts, charge.parts))
    if (group !== undefined) group.push(charge)
    else if (groups.push([charge]) > MAX_STATEMENTS) return groups
  }
  return groups
}

const byFirstKey = (a: Pending, b: Pending) => ((a.keys[0] ?? '') < (b.keys[0] ?? '') ? -1 : 1)
