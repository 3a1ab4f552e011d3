import { type Failure, fixFor, OWN_POOL } from '../errors.js'

/*
 * Error codes of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const DUPLICATE = '23505'
/** The prepared statements of a connection were discarded, or belong to another connection behind a pooler. */
const STATEMENT_LOST = ['26000', '42P05']
const TEMPORARY = [SERIALIZATION_FAILURE, DEADLOCK, LOCK_NOT_AVAILABLE, DUPLICATE, ...STATEMENT_LOST]

const FAILURES: Readonly<Record<string, Failure>> = {
  '42P01': 'missing table',
  '42703': 'schema mismatch', // no such column
  '42804': 'schema mismatch', // of another type
  '42883': 'schema mismatch', // no operator for its type
  '22P02': 'schema mismatch', // a value of another type
  '42P10': 'schema mismatch', // no unique key
  '23502': 'schema mismatch', // another column wants a value
  '42501': 'permission denied',
  '25006': 'read only',
}

/** What to do beyond `fixFor`, by a code, or by the message of a pool or pooler that has no codes. */
const HINTS: readonly (readonly [code: string | RegExp, hint: string])[] = [
  ['42P01', "If connections change search_path, name the schema too: table: 'public.headgate'."],
  ['25006', 'Reset default_transaction_read_only if connections set it.'],
  ['57014', `Raise the statement_timeout of the connections, ${OWN_POOL}`],
  [
    /timeout exceeded when trying to connect/,
    `All connections of the pool are in use: raise its max, ${OWN_POOL}`,
  ],
  [
    /statement pooling mode/,
    "Set PgBouncer's pool_mode to transaction or session: the store needs transactions.",
  ],
]

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code)
}

export const isTemporary = (error: unknown) => TEMPORARY.includes(codeOf(error))
export const isStatementLost = (error: unknown) => STATEMENT_LOST.includes(codeOf(error))

/** Returns what the operator can do. */
export function hintFor(error: unknown, table: string): string | undefined {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : ''
  const hints = HINTS.filter(([known]) => (typeof known === 'string' ? known === code : known.test(message)))
  const fix = fixFor(error, FAILURES[code], 'postgresSchema()', table)
  return [fix, ...hints.map(([, hint]) => hint)].filter(Boolean).join(' ') || undefined
}
