import { createHash } from 'node:crypto'

/** A query as pg takes it. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Under which a connection keeps the prepared statement. */
  name?: string | undefined
  readonly rowMode: 'array'
  readonly types: { getTypeParser(): (text: string) => string }
}

/** A reply; several statements in one query have as many. */
export interface PostgresReply {
  readonly rows: readonly (readonly (string | null)[])[]
}

/** A connection of a pool. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<unknown>
  release(destroy?: boolean): void
  /**
   * Of the last reply: `'I'` outside of transactions, `'T'` in one, `'E'` in one that failed. Older versions
   * of pg lack it.
   */
  getTransactionStatus?(): string | null
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What the store needs of a pool of `pg` (https://node-postgres.com/apis/pool). */
export interface PostgresPool {
  connect(): Promise<PostgresConnection>
}

export function isPostgresPool(value: unknown): value is PostgresPool {
  if (typeof value !== 'object' || value === null) return false
  const { connect, query } = value as { connect?: unknown; query?: unknown }
  const isClient = 'processID' in value // a lone client has both methods as well, and no transactions for two at once
  return typeof connect === 'function' && typeof query === 'function' && !isClient
}

/** Every value comes as the text that the server sends, whatever parsers the user has set. */
const types = { getTypeParser: () => (text: string) => text }

export function query(text: string): PostgresQuery {
  return { text, rowMode: 'array', types }
}

/** Makes a query of a statement's values. */
export type Prepared = (values: unknown[]) => PostgresQuery

/** A statement that each connection prepares once, by a name of its own. */
export function preparing(text: string): Prepared {
  const name = `headgate-${createHash('sha256').update(text).digest('hex').slice(0, 16)}` // at most 63 bytes
  return (values) => ({ name, text, values, rowMode: 'array', types })
}

/** Sends statements in one query, each with a reply. */
export async function repliesOf(
  connection: PostgresConnection,
  statements: readonly string[],
): Promise<readonly PostgresReply[]> {
  const replies = await connection.query(query(statements.join(';')))
  return (Array.isArray(replies) ? replies : [replies]) as PostgresReply[]
}
