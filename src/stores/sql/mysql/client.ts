import { wrongKind } from '../../../util/validate.js'

/** A query as mysql2 takes it. */
export interface MysqlQuery {
  readonly sql: string
  readonly values?: unknown[] | null
  readonly rowsAsArray?: boolean
  readonly nestTables?: false
  readonly typeCast?: (field: unknown, next: () => unknown) => unknown
}

/** @inline */
type Callback<T> = (error: Error | null, result: T) => void

/** A connection of a pool. */
export interface MysqlConnection {
  /** Sends a statement as text. */
  query(query: MysqlQuery, callback: Callback<unknown>): unknown
  /** Sends a prepared statement, which mysql2 caches per connection. */
  execute(query: MysqlQuery, callback: Callback<unknown>): unknown
  release(): void
  destroy(): void
}

/** What the store needs of a pool of `mysql2` (https://sidorares.github.io/node-mysql2/docs). */
export interface MysqlCallbackPool {
  getConnection(callback: Callback<MysqlConnection>): unknown
}

/** A pool of `mysql2`, or of `mysql2/promise`, which wraps one of `mysql2`. */
export type MysqlPool = MysqlCallbackPool | { readonly pool: MysqlCallbackPool }

/**
 * Returns the pool with callbacks: the one with promises captures a stack a call (mysql2 3.24), which takes
 * longer than the rest of the call. Throws a `TypeError` if `value` is not a pool.
 */
export function readPool(value: unknown): MysqlCallbackPool {
  const { pool }: { readonly pool?: unknown } = value ?? {}
  const callbackPool = [value, pool].find(isCallbackPool)
  if (callbackPool !== undefined) return callbackPool
  throw wrongKind('mysqlStore', 'pool', 'a mysql2 pool', value, 'Write mysqlStore(mysql.createPool(url)).')
}

function isCallbackPool(value: unknown): value is MysqlCallbackPool {
  if (typeof value !== 'object' || value === null) return false
  const fields: { promise?: unknown; getConnection?: unknown; of?: unknown } = value
  const { promise, getConnection, of } = fields // a cluster of pools has `of`
  return typeof getConnection === 'function' && typeof promise === 'function' && of === undefined
}

export function acquire(pool: MysqlCallbackPool): Promise<MysqlConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)))
  })
}

/** Rows, each as an array, or the outcome of a statement without rows. */
export type MysqlReply = readonly (readonly unknown[])[] & {
  readonly affectedRows?: number
  /** Flags: https://dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html */
  readonly serverStatus?: number
}

/** Makes rows arrays of plain values, whatever the pool's options are. */
const PLAIN = {
  rowsAsArray: true,
  nestTables: false,
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const

/** Sends a statement, as a prepared one if it has values. With `null`, mysql2 looks for no placeholders. */
export function run(connection: MysqlConnection, sql: string, values?: unknown[]): Promise<MysqlReply> {
  return new Promise((resolve, reject) => {
    const callback: Callback<unknown> = (error, reply) =>
      error ? reject(error) : resolve(reply as MysqlReply)
    if (values === undefined) connection.query({ ...PLAIN, sql, values: null }, callback)
    else connection.execute({ ...PLAIN, sql, values }, callback)
  })
}
