import type { State } from '../../../policies/policy.js'
import { type ChargeResult, onlyPartOf, type Part } from '../../operation.js'
import { evaluateCharge } from '../../shared/apply-batch.js'
import { decodeState, encodeState } from '../../shared/state-bytes.js'
import { foreignKeyError, isStateOf } from '../../shared/state-codec.js'
import { stateWrite } from '../../shared/state-write.js'
import type { Dialect } from '../dialect.js'
import { codeOf, MYSQL_DUPLICATE, openTransactionError } from '../errors.js'
import { expiryS } from '../expiry.js'
import { rowKey } from '../table.js'
import { type MysqlConnection, run } from './client.js'
import { CLOCK, IN_TRANSACTION, LOCK_WAIT, ROLLBACK } from './statements.js'

/**
 * Creates a function that decides a lone charge of one part by compare-and-swap: reads the row, and writes it if
 * it is unchanged. Returns `undefined`, and changes nothing, if the row has changed, if `autocommit` is off on
 * the connection, or if there are several charges, which a transaction decides in fewer round trips.
 */
export function singleCharge(table: string): NonNullable<Dialect<MysqlConnection>['chargeEach']> {
  const select = `SELECT (SELECT state FROM ${table} WHERE \`key\` = ?), ${CLOCK}, @@autocommit`
  const insert = `${LOCK_WAIT}INSERT INTO ${table} (state, expires_at, \`key\`) VALUES (?, ?, ?)`
  const update = `${LOCK_WAIT}UPDATE ${table} SET state = ?, expires_at = GREATEST(expires_at, ?) WHERE \`key\` = ? AND state = ?`

  /** Returns whether the row was unchanged. */
  async function swap(connection: MysqlConnection, before: State | undefined, values: unknown[]) {
    try {
      const [sql, compared] = before === undefined ? [insert, []] : [update, [encodeState(before)]]
      const { affectedRows, serverStatus = 0 } = await run(connection, sql, [...values, ...compared])
      if (serverStatus & IN_TRANSACTION) throw openTransactionError() // which may be rolled back
      return affectedRows === 1
    } catch (error) {
      if (codeOf(error) === MYSQL_DUPLICATE) return false
      throw error
    }
  }

  async function charge(connection: MysqlConnection, part: Part): Promise<ChargeResult | undefined> {
    const key = Buffer.from(rowKey(part.key))
    const [[bytes, micros, autocommit] = []] = await run(connection, select, [key])
    if (Number(autocommit) !== 1) {
      await run(connection, ROLLBACK)
      return undefined
    }
    const state = decodeState(bytes)
    if (bytes !== null && !isStateOf(part.policy, state)) throw foreignKeyError('mysql', part.key)
    const nowMs = Number(micros) / 1000
    const { verdict, writes } = evaluateCharge([part], () => state, nowMs)
    const [next] = writes.values()
    if (next === undefined) return verdict
    const { ttlMs } = stateWrite(part.key, next, nowMs)
    const values = [encodeState(next.state), expiryS(part.policy, nowMs + ttlMs), key]
    return (await swap(connection, state, values)) ? verdict : undefined
  }

  return async (connection, charges) => {
    const part = charges.length === 1 ? onlyPartOf(charges[0]) : undefined
    return part === undefined ? charges.map(() => undefined) : [await charge(connection, part)]
  }
}
