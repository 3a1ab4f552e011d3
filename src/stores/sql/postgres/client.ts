import { createHash } from 'node:crypto'
import { wrongKind } from '../../../util/validate.js'

/** A query as pg takes it. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: unknown[]
  /** The name under which a connection keeps the prepared statement. */
  name?: string | undefined
  readonly rowMode: 'array'
  readonly types: { getTypeParser(): (text: string) => string }
}

/** The reply to one statement. */
export interface PostgresReply {
  readonly rows: readonly (readonly (string | null)[])[]
}

/** A connection of a pool. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<unknown>
  release(destroy?: boolean): void
  /**
   * Returns `'I'` outside of transactions, `'T'` in one, and `'E'` in a failed one. Exists since pg 8.21.
   */
  getTransactionStatus?(): string | null
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What the store needs of a pool of `pg` (https://node-postgres.com/apis/pool). */
export interface PostgresPool {
  /** Calls back at once. A wrapper of a pool may take no callback, and return a promise. */
  connect(
    callback: (error: Error | undefined, connection?: PostgresConnection) => void,
    // biome-ignore lint/suspicious/noConfusingVoidType: what pg declares
  ): Promise<PostgresConnection> | void
  /** A client has one, which is a single connection, and a pool has none. */
  readonly port?: never
}

/** Returns the pool. Throws a `TypeError` for anything else, such as a client, which is one connection. */
export function readPool(value: unknown): PostgresPool {
  if (isPool(value)) return value
  const fix = 'Write postgresStore(new Pool({ connectionString })).'
  throw wrongKind('postgresStore', 'pool', 'a pg pool', value, fix)
}

function isPool(value: unknown): value is PostgresPool {
  const { connect, processID, port }: { connect?: unknown; processID?: unknown; port?: unknown } = value ?? {}
  return typeof connect === 'function' && processID === undefined && port === undefined
}

/**
 * Takes a connection of the pool, and passes it to `use` in the same step. With a promise, the connection
 * could fail before it has a listener for errors, which would end the process.
 */
export function acquire(
  pool: PostgresPool,
  use: (connection: PostgresConnection) => void,
): Promise<PostgresConnection> {
  return new Promise((resolve, reject) => {
    const resolveUsed = (connection: PostgresConnection) => {
      use(connection)
      resolve(connection)
    }
    const connecting = pool.connect((error, connection) => {
      if (connection === undefined) reject(error)
      else resolveUsed(connection)
    })
    connecting?.then(resolveUsed, reject)
  })
}

/** Makes every value the text that the server sends, whatever parsers the user has set. */
const PLAIN = { rowMode: 'array', types: { getTypeParser: () => (text: string) => text } } as const

/** Returns a query of a statement that each connection prepares once. */
export type PreparedStatement = (values: unknown[]) => PostgresQuery

export function preparedStatement(text: string): PreparedStatement {
  const name = `headgate-${createHash('sha256').update(text).digest('hex').slice(0, 16)}` // at most 63 bytes
  const { rowMode, types } = PLAIN
  return (values) => ({ name, text, values, rowMode, types }) // to spread PLAIN would take a microsecond
}

/** Whether a connection is known to be in a transaction. */
export function isInTransaction(connection: PostgresConnection): boolean {
  return (connection.getTransactionStatus?.() ?? 'I') !== 'I'
}

/** Sends statements in one query, and returns their replies. */
export async function run(
  connection: PostgresConnection,
  ...statements: readonly string[]
): Promise<readonly PostgresReply[]> {
  const replies = await connection.query({ ...PLAIN, text: statements.join(';') })
  return (Array.isArray(replies) ? replies : [replies]) as PostgresReply[]
}
