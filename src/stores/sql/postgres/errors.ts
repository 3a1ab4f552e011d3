import { OtherTable } from '../other-table.js'

/** A connection is in a transaction that the store did not begin. */
export class InTransaction extends Error {
  constructor() {
    super('a connection was released to the pool in the middle of a transaction')
  }
}

/*
 * Error codes of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const DUPLICATE = '23505'
const NO_TABLE = '42P01'
/** No such column, or one of another type, or one that is not ours and wants a value, or no key. */
const OTHER_SHAPE = ['42703', '42804', '42883', '22P02', '42P10', '23502']
const DENIED = '42501'
/** Prepared statements of a connection were dropped, or are another connection's. */
const STATEMENT_LOST = ['26000', '42P05']
const READ_ONLY = '25006'
const CANCELED = '57014'

const OWN_POOL = 'or give the store a pool of its own.'
/** What others say who have no code for it: pg's pool, and PgBouncer. */
const BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [
    /timeout exceeded when trying to connect/,
    `All connections of the pool are in use: raise its max, ${OWN_POOL}`,
  ],
  [
    /statement pooling mode/,
    "Set PgBouncer's pool_mode to transaction or session: the store needs transactions.",
  ],
]

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** Others were in the way, and nothing of it is done. */
export function isTemporary(error: unknown): boolean {
  const temporary: unknown[] = [SERIALIZATION_FAILURE, DEADLOCK, LOCK_NOT_AVAILABLE, DUPLICATE]
  return temporary.includes(codeOf(error)) || isStatementLost(error)
}

export function isStatementLost(error: unknown): boolean {
  return STATEMENT_LOST.includes(codeOf(error) ?? '')
}

/** What the operator can do. */
export function hintFor(error: unknown, table: string): string | undefined {
  const code = codeOf(error)
  if (error instanceof InTransaction) return `Call release() after COMMIT or ROLLBACK, ${OWN_POOL}`
  if (error instanceof OtherTable || (code !== undefined && OTHER_SHAPE.includes(code))) {
    return `The table ${table} is another than postgresSchema() makes. Name another one by the option table, or drop it and run prepare().`
  }
  switch (code) {
    case NO_TABLE:
      return `Await prepare() of the store before the first request, or run the SQL that postgresSchema() gives. If the search_path of connections changes, write the schema too: table: 'public.headgate'.`
    case DENIED:
      return `Let the user of the pool work: GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO …; prepare() needs CREATE on the schema too.`
    case READ_ONLY:
      return 'Reset default_transaction_read_only where connections have it. The store needs a server that it may write to, not a replica.'
    case CANCELED:
      return `Raise the statement_timeout of the connections, ${OWN_POOL}`
    default:
      return BY_MESSAGE.find(([pattern]) => error instanceof Error && pattern.test(error.message))?.[1]
  }
}
