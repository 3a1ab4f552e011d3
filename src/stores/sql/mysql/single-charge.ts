import type { State } from '../../../policies/policy.js'
import { evaluateCharge } from '../../shared/evaluate-charge.js'
import { bytesOf, stateIn } from '../../shared/state-codec.js'
import type { Part, Verdict } from '../../store.js'
import { Unreadable } from '../errors.js'
import { expiryS } from '../expiry.js'
import { rowKey } from '../row-key.js'
import { type MysqlConnection, prepared, text } from './client.js'
import { BEGUN } from './clock.js'
import { isDuplicate } from './errors.js'
import { ROLLBACK } from './statements.js'

/** MariaDB reads this; MySQL has its `innodb_lock_wait_timeout` alone. */
const IMPATIENTLY = '/*M!100301 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */ '

/** What a statement without a transaction sees of a row. */
interface Seen {
  readonly state: State | undefined
  readonly nowMs: number
}

/**
 * Decides a charge of one part by two prepared statements: reads the row, and writes it where it is still as it was. Gives nothing,
 * and has done nothing, where it is not, and where the connection begins transactions by itself.
 */
export function singleCharge(
  table: string,
): (connection: MysqlConnection, part: Part) => Promise<Verdict | undefined> {
  const reading = `SELECT (SELECT state FROM ${table} WHERE \`key\` = ?), ${BEGUN}, @@autocommit`
  const adding = `${IMPATIENTLY}INSERT INTO ${table} (state, expires_at, \`key\`) VALUES (?, ?, ?)`
  const changing = `${IMPATIENTLY}UPDATE ${table} SET state = ?, expires_at = ? WHERE \`key\` = ? AND state = ?`

  async function read(connection: MysqlConnection, key: Buffer): Promise<Seen | undefined> {
    const [[found, micros, autocommit] = []] = await prepared(connection, reading, [key])
    if (Number(autocommit) !== 1) {
      await text(connection, ROLLBACK)
      return undefined
    }
    const state = stateIn(found)
    if (state === undefined && found !== null) throw new Unreadable()
    return { state, nowMs: Number(micros) / 1000 }
  }

  /** Tells whether the row was still as it was. */
  async function write(
    connection: MysqlConnection,
    before: State | undefined,
    values: unknown[],
  ): Promise<boolean> {
    if (before !== undefined) {
      return (await prepared(connection, changing, [...values, bytesOf(before)])).affectedRows === 1
    }
    try {
      await prepared(connection, adding, values)
      return true
    } catch (error) {
      if (isDuplicate(error)) return false
      throw error
    }
  }

  return async (connection, part) => {
    const key = Buffer.from(rowKey(part.key))
    const seen = await read(connection, key)
    if (seen === undefined) return undefined
    const { verdict, writes } = evaluateCharge([part], () => seen.state, seen.nowMs)
    const [next] = writes.values()
    if (next === undefined) return verdict
    const expiresAtS = expiryS(part.policy, next.state, seen.nowMs)
    const isWritten = await write(connection, seen.state, [bytesOf(next.state), expiresAtS, key])
    return isWritten ? verdict : undefined
  }
}
