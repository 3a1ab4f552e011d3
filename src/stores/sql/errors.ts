/** Rejects an operation on a row that something other than a store has written. */
export class CorruptRowError extends Error {
  constructor() {
    super('a row holds no valid state: something other than headgate writes to the table')
  }
}

/** Rejects `prepare()` where the existing table is not the one that it creates. */
export class SchemaMismatchError extends Error {}

/** Rejects the use of a connection in a transaction that the store did not begin. */
export class OpenTransactionError extends Error {
  constructor() {
    super('a connection was released to the pool in the middle of a transaction')
  }
}

/** The failures whose fix is the same on every database. */
export type Failure = 'missing table' | 'schema mismatch' | 'permission denied' | 'read only'

export const OWN_POOL = 'or give the store a pool of its own.'

/** Returns the fix for a failure. `schema` is the function that returns the SQL; `table` is quoted. */
export function fixFor(
  error: unknown,
  failure: Failure | undefined,
  schema: string,
  table: string,
): string | undefined {
  if (error instanceof OpenTransactionError) return `Call release() after COMMIT or ROLLBACK, ${OWN_POOL}`
  switch (error instanceof SchemaMismatchError ? 'schema mismatch' : failure) {
    case 'missing table':
      return `Await prepare() of the store before the first request, or run the SQL that ${schema} returns.`
    case 'schema mismatch':
      return `The table ${table} differs from the one that ${schema} creates. Set the option table to another name, or drop the table and run prepare().`
    case 'permission denied':
      return `Grant the user of the pool what the store needs: GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO …; prepare() needs CREATE too.`
    case 'read only':
      return 'The store needs a server that it can write to, not a replica.'
    default:
      return undefined
  }
}
