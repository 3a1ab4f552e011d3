import { codeOf, MARIADB_NO_ROWS, MYSQL_IN_TRANSACTION, openTransactionError } from '../errors.js'
import { type MysqlConnection, type MysqlReply, run } from './client.js'

/** The additions override `completion_type`. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE'
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE'

/** In MariaDB a statement waits a second for a locked row; MySQL has `innodb_lock_wait_timeout` alone. */
export const LOCK_WAIT = '/*M!100301 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */ '

/** When the statement began, in µs since the Unix epoch, whatever the connection's time zone is. */
export const STATEMENT_START = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

const MINUTE_US = 60_000_000
const WAITED = 'TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))'

/**
 * The present, in µs since the Unix epoch: a statement may have waited for a lock, much less than half an
 * hour. The wait is measured in local time, so a shift by hours or half hours (daylight saving) is removed;
 * a clock adjusted by up to a minute is tolerated.
 */
export const CLOCK = `${STATEMENT_START} + MOD(${WAITED} + ${61 * MINUTE_US}, ${30 * MINUTE_US}) - ${MINUTE_US}`

/** Begins a transaction at READ COMMITTED, without changing the level of later ones. */
const BEGIN = ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION']

/** SERVER_STATUS_IN_TRANS in `serverStatus`. */
export const IN_TRANSACTION = 1

/** In MariaDB, a compound statement that returns rows. */
const COMPOUND_ROWS = '/*M!100301 BEGIN NOT ATOMIC */ SELECT 1 /*M!100301 ; END */'

/** By connection: whether it runs compound statements that return rows. */
const compoundByConnection = new WeakMap<MysqlConnection, boolean>()

/**
 * Returns whether a connection can run compound statements that return rows. MySQL has none, and a MariaDB
 * client without the flag `MULTI_RESULTS` gets no rows of one.
 */
async function canRunCompounds(connection: MysqlConnection): Promise<boolean> {
  const known = compoundByConnection.get(connection)
  if (known !== undefined) return known
  const isCompound = await run(connection, COMPOUND_ROWS).then(
    ([first]) => Array.isArray(first?.[0]),
    (error: unknown) => {
      if (codeOf(error) !== MARIADB_NO_ROWS) throw error
      return false
    },
  )
  compoundByConnection.set(connection, isCompound)
  return isCompound
}

/**
 * Runs statements until one fails. Returns the reply to the last one, the only one that may return rows. On
 * MariaDB, they are one compound statement if the client can get its rows, and take one round trip.
 */
export async function runInOrder(
  connection: MysqlConnection,
  statements: readonly string[],
): Promise<MysqlReply> {
  if (statements.length > 1 && (await canRunCompounds(connection))) {
    const reply = await run(connection, `BEGIN NOT ATOMIC ${statements.join('; ')}; END`)
    return Array.isArray(reply) ? (reply[0] as MysqlReply) : reply
  }
  let last: MysqlReply = []
  // One by one: a deadlock ends the transaction, and a statement already sent would run outside it.
  for (const statement of statements) last = await run(connection, statement)
  return last
}

/**
 * Begins a transaction, runs its first statement, and returns the reply to that. Rejects if a transaction is
 * already open. The error is temporary if `autocommit` is off, because any statement begins a transaction
 * then.
 */
export async function beginWith(connection: MysqlConnection, statement: string): Promise<MysqlReply> {
  try {
    return await runInOrder(connection, [...BEGIN, statement])
  } catch (error) {
    if (codeOf(error) !== MYSQL_IN_TRANSACTION) throw error
    const [[autocommit] = []] = await run(connection, 'SELECT @@autocommit')
    throw Number(autocommit) === 1 ? openTransactionError() : error
  }
}

/** Returns bytes as a literal that is valid in every `sql_mode`. */
export function hex(bytes: string | Buffer): string {
  const digits = typeof bytes === 'string' ? Buffer.from(bytes).toString('hex') : bytes.toString('hex')
  return `x'${digits}'`
}

/**
 * Returns a statement that deletes rows by their keys. Order and limit keep the server from scanning a small
 * table, which would wait for other rows' locks.
 */
export function deleteStatement(table: string, keys: readonly (string | Buffer)[], and = ''): string {
  return `DELETE FROM ${table} WHERE \`key\` IN (${keys.map(hex)})${and} ORDER BY \`key\` LIMIT ${keys.length}`
}
