import type { Policy } from '../../../policies/policy.js'
import { evaluateCharge } from '../../shared/evaluate-charge.js'
import type { Part, Verdict } from '../../store.js'
import { Unreadable } from '../errors.js'
import { rowKey } from '../row-key.js'
import { type PostgresConnection, type PostgresQuery, type PostgresReply, preparing } from './client.js'
import { NOW, readSent, type Sent, sent } from './codec.js'
import { isStatementLost } from './errors.js'
import { isTakenAtOnce, takingStatements } from './single-statement.js'

/**
 * Decides a charge of one part by one prepared statement that takes, or, where it may not, by a second one that looks. Gives nothing,
 * and has done nothing, where neither will do.
 */
export function singleCharge(
  table: string,
): (connection: PostgresConnection, part: Part) => Promise<Verdict | undefined> {
  const taking = takingStatements(table)
  const looking = preparing(`SELECT ${sent(NOW, `(SELECT state FROM ${table} WHERE key = $1)`)}`)
  let keepsStatements = true

  /** Asks without a name once the prepared statements of a connection were lost: by `DISCARD ALL`, or by a pool on the way. */
  async function ask(connection: PostgresConnection, query: PostgresQuery): Promise<Sent | undefined> {
    try {
      if (!keepsStatements) query.name = undefined
      const reply = (await connection.query(query)) as PostgresReply
      const [row] = reply.rows
      const sent = row && readSent(row[0])
      if (sent?.isThere && sent.state === undefined) throw new Unreadable()
      return sent
    } catch (error) {
      if (isStatementLost(error)) keepsStatements = false
      throw error
    }
  }

  return async (connection, part) => {
    const { policy, cost } = part
    if (!isTakenAtOnce(policy)) return undefined
    const key = Buffer.from(rowKey(part.key))
    if (cost > 0 && cost <= policy.limit) {
      const taken = await ask(connection, taking(policy, key, cost))
      if (taken !== undefined) return verdictOf(policy, taken)
    }
    const seen = await ask(connection, looking([key]))
    if (seen === undefined) return undefined
    const { verdict, writes } = evaluateCharge([part], () => seen.state, seen.nowMs)
    return writes.size === 0 ? verdict : undefined
  }
}

/** A look at the state that follows has the figures of the taking. */
function verdictOf(policy: Policy, { state, nowMs }: Sent): Verdict {
  const { next: _, ...figures } = policy.take(state, nowMs, 0)
  return { allowed: true, atMs: nowMs, parts: [figures] }
}
