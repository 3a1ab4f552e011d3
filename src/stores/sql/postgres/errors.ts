import { type Failure, fixFor, OWN_POOL } from '../errors.js'

// Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const DUPLICATE = '23505'
/** A connection's prepared statements were discarded, or a pooler changed the connection behind it. */
const STATEMENT_LOST = ['26000', '42P05']
const TEMPORARY = [SERIALIZATION_FAILURE, DEADLOCK, LOCK_NOT_AVAILABLE, DUPLICATE, ...STATEMENT_LOST]

const FAILURES: readonly (readonly [Failure, codes: readonly string[]])[] = [
  ['missing table', ['42P01']],
  ['schema mismatch', ['42703', '42804', '42883', '22P02', '42P10', '23502']], // other columns, types or keys
  ['permission denied', ['42501']],
  ['read only', ['25006']],
]

/** Fixes beyond `fixFor`, by code, or by message for errors of a pool or pooler, which have no code. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^42P01/, "If connections change search_path, name the schema too: table: 'public.headgate'."],
  [/^25006/, 'Reset default_transaction_read_only if connections set it.'],
  [/^57014/, `Raise the statement_timeout of the connections, ${OWN_POOL}`],
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

/** Returns the operator's fix for an error, if one is known. */
export function hintFor(error: unknown, table: string): string | undefined {
  const code = codeOf(error)
  const [failure] = FAILURES.find(([, codes]) => codes.includes(code)) ?? []
  const hints = HINTS.filter(([pattern]) => pattern.test(`${code} ${error}`)).map(([, hint]) => hint)
  return [fixFor(error, failure, 'postgresSchema()', table), ...hints].filter(Boolean).join(' ') || undefined
}
