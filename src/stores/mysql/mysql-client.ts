/** A query as mysql2 takes it. */
export interface MysqlQuery {
  readonly sql: string
  readonly values?: unknown[]
  readonly rowsAsArray?: boolean
  readonly nestTables?: false
  readonly typeCast?: (field: unknown, next: () => unknown) => unknown
}

/** A connection of a pool. */
export interface MysqlConnection {
  /** Sends text. */
  query(query: MysqlQuery): Promise<[unknown, unknown]>
  /** Sends a prepared statement, which mysql2 keeps for the connection. */
  execute(query: MysqlQuery): Promise<[unknown, unknown]>
  release(): void
  destroy(): void
}

/** What the store needs of a pool of `mysql2/promise` (https://sidorares.github.io/node-mysql2/docs). */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>
}

/** A pool of `mysql2/promise`, or one of `mysql2`, which gives the other. */
export type MysqlPool = MysqlPromisePool | { promise(): MysqlPromisePool }

/** The pool that answers by promises; nothing for what is no pool. */
export function promisePoolOf(value: unknown): MysqlPromisePool | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { promise, getConnection, of } = value as Record<'promise' | 'getConnection' | 'of', unknown>
  if (typeof getConnection !== 'function' || of !== undefined) return undefined // a PoolCluster has `of`
  return typeof promise === 'function' ? promise.call(value) : (value as MysqlPromisePool)
}

/** The rows of a reply, each as a list. */
export async function rowsOf(reply: Promise<[unknown, unknown]>): Promise<readonly (readonly unknown[])[]> {
  return (await reply)[0] as readonly (readonly unknown[])[]
}

/** How many rows a statement has written. */
export async function writtenBy(reply: Promise<[unknown, unknown]>): Promise<number> {
  return ((await reply)[0] as { affectedRows: number }).affectedRows
}
