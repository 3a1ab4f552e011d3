/** A query as mysql2 takes it. */
export interface MysqlQuery {
  readonly sql: string
  readonly values?: unknown[]
  readonly rowsAsArray?: boolean
  readonly nestTables?: false
  readonly typeCast?: (field: unknown, next: () => unknown) => unknown
}

/** How mysql2 answers. */
type Answer<T> = (error: Error | null, result: T) => void

/** A connection of a pool. */
export interface MysqlConnection {
  /** Sends text. */
  query(query: MysqlQuery, answer: Answer<unknown>): unknown
  /** Sends a prepared statement, which mysql2 keeps for the connection. */
  execute(query: MysqlQuery, answer: Answer<unknown>): unknown
  release(): void
  destroy(): void
}

/** What the store needs of a pool of `mysql2` (https://sidorares.github.io/node-mysql2/docs). */
export interface MysqlCallbackPool {
  getConnection(answer: Answer<MysqlConnection>): unknown
}

/** A pool of `mysql2`, or one of `mysql2/promise`, which has the other inside. */
export type MysqlPool = MysqlCallbackPool | { readonly pool: MysqlCallbackPool }

/**
 * The pool that answers by callbacks; nothing for what is no pool. The other notes a stack for each call, in case it fails (mysql2
 * 3.24), which takes longer than the rest of the call.
 */
export function callbackPoolOf(value: unknown): MysqlCallbackPool | undefined {
  const pool = isCallbackPool(value) ? value : (value as { pool?: unknown } | null | undefined)?.pool
  return isCallbackPool(pool) ? pool : undefined
}

function isCallbackPool(value: unknown): value is MysqlCallbackPool {
  if (typeof value !== 'object' || value === null) return false
  const { promise, getConnection, of } = value as Record<'promise' | 'getConnection' | 'of', unknown>
  return typeof getConnection === 'function' && typeof promise === 'function' && of === undefined // a PoolCluster has `of`
}

export function connectionOf(pool: MysqlCallbackPool): Promise<MysqlConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)))
  })
}

/** Rows come as lists, whatever the user has told the pool. */
const AS_LISTS = {
  rowsAsArray: true,
  nestTables: false,
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const

/** Rows, each as a list, or what a statement has done. */
export type MysqlReply = readonly (readonly unknown[])[] & { readonly affectedRows?: number }

/** Sends text. */
export function text(connection: MysqlConnection, sql: string): Promise<MysqlReply> {
  return new Promise((resolve, reject) => {
    connection.query({ ...AS_LISTS, sql }, (error, reply) =>
      error ? reject(error) : resolve(reply as MysqlReply),
    )
  })
}

/** Sends a prepared statement. */
export function prepared(connection: MysqlConnection, sql: string, values: unknown[]): Promise<MysqlReply> {
  return new Promise((resolve, reject) => {
    connection.execute({ ...AS_LISTS, sql, values }, (error, reply) =>
      error ? reject(error) : resolve(reply as MysqlReply),
    )
  })
}
