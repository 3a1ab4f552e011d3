const OWN_POOL = 'or give the store its own pool.'

/** Returns the error for a connection in a transaction that the store did not begin. */
export function openTransactionError(): Error {
  return new Error(
    `a connection was released to the pool in the middle of a transaction. Call release() after COMMIT or ROLLBACK, ${OWN_POOL}`,
  )
}

/*
 * Codes have four digits in MySQL, five characters in PostgreSQL, and one or two digits in SQLite:
 * https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html,
 * https://www.postgresql.org/docs/current/errcodes-appendix.html, https://sqlite.org/rescode.html
 */

export const MYSQL_DUPLICATE = '1062'
export const MYSQL_NO_TABLE = '1146'
/** `SET TRANSACTION` inside a transaction. */
export const MYSQL_IN_TRANSACTION = '1568'
/** A compound statement cannot return rows to this client. */
export const MARIADB_NO_ROWS = '1312'
/** A connection's prepared statements were discarded, or a pooler changed the connection behind it. */
export const POSTGRES_STATEMENT_LOST = ['26000', '42P05']

/** Others were using the same rows. */
const CONTENTION = [
  ...['1213', '40P01'], // deadlock
  ...['1205', '55P03'], // a lock was not available in time
  ...['1020', '40001'], // others have changed a row since the transaction began
]

/** Others have inserted the row. */
const DUPLICATE = [MYSQL_DUPLICATE, '23505']

const TEMPORARY = [
  ...CONTENTION,
  ...DUPLICATE,
  ...['42P07', '42710'], // others have created the table
  MYSQL_IN_TRANSACTION,
  ...POSTGRES_STATEMENT_LOST,
  ...['5', '6'], // another connection has locked the file, or the table
]

/** Returns the code of an error; of none, as of a pool, some other text. */
export function codeOf(error: unknown): string {
  const { errno, errcode, code }: { errno?: unknown; errcode?: unknown; code?: unknown } = error ?? {}
  if (typeof errcode === 'number') return String(errcode & 0xff) // without SQLite's details
  return String(errno ?? code)
}

/** Whether another attempt may succeed, after an error that has changed nothing. */
export function isTemporary(error: unknown): boolean {
  return TEMPORARY.includes(codeOf(error)) || /statement has been finalized/.test(String(error)) // reopened
}

/** Whether others have inserted a row that the next attempt finds, however long this one waited for them. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.includes(codeOf(error))
}

/** Whether the server has replied that others were using these rows. It may decide others. */
export function isContention(error: unknown): boolean {
  return CONTENTION.includes(codeOf(error))
}

/** Creates a function that returns the operator's fix for an error, if one is known. `table` is quoted. */
export function hints(store: string, table: string): (error: unknown) => string | undefined {
  const schema = `${store}Schema()`
  /** By code and message. */
  const fixes: readonly (readonly [RegExp, string])[] = [
    [
      /^(1146|42P01) |no such table/,
      `Await the store's prepare() before the first request, or run the SQL that ${schema} returns.`,
    ],
    [/^42P01 /, "If connections change search_path, name the schema too: table: 'public.headgate'."],
    [
      /^(1054|1292|1364|1366|1406|42703|42804|42883|22P02|42P10|23502) |keys are not unique|no such column|has no column|ON CONFLICT clause|cannot store/,
      `The table ${table} differs from the one that ${schema} creates. Set table to another name, or drop the table and run prepare().`,
    ],
    [
      /^(1044|1142|1143|42501) /,
      `Grant the pool's user what the store needs: GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO …; prepare() also needs CREATE.`,
    ],
    [/cannot start a transaction within a transaction/, 'Open a separate database for the store.'],
    [/database is not open/, 'Open the database before the first request, and close it after the last one.'],
    [/^(1290|1792|1836|25006) /, 'Connect the store to a server that accepts writes, not to a replica.'],
    [/^8 /, 'Open the file for writing, in a folder where the process may write.'],
    [/^25006 /, 'If connections set default_transaction_read_only, turn it off.'],
    [/^(1045|28P01|28000) .*(password|denied)/i, "Correct the pool's user and password."],
    [/^(1049|3D000) /, "Create the database, or correct its name in the pool's options."],
    [/^3159 .*secure transport/i, "The server requires TLS: set the pool's option ssl."],
    [/^28000 .*pg_hba\.conf/, "Allow the pool's user, database and address in the server's pg_hba.conf."],
    [/^28000 .*(no encryption|SSL off)/, "If its entry for them is hostssl, set the pool's option ssl."],
    [
      /client certificate|alert certificate required/i,
      "The server requires a client certificate: pass cert and key in the pool's option ssl.",
    ],
    [
      /does not support (SSL|secure) connections?/i,
      "The server does not use TLS: leave out the pool's option ssl.",
    ],
    [
      /^(?!.*(client certificate|SSL alert)).*(certificate|altnames)/is,
      "Trust the server's certificate: pass its CA in the pool's option ssl.",
    ],
    [/^(1040|1203|53300) /, "Lower the pool's limit, or raise max_connections on the server."],
    [/^(1021|1114|53100) /, 'Free some disk space on the server.'],
    [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/, "Check that the database runs at the pool's address."],
    [/^1665 /, 'Set binlog_format to ROW or MIXED on the server: READ COMMITTED needs it.'],
    [/^57014 /, `Raise the statement_timeout of the connections, ${OWN_POOL}`],
    [
      /timeout exceeded when trying to connect/,
      `All connections of the pool are in use: raise its max, ${OWN_POOL}`,
    ],
    [
      /statement pooling mode/,
      "Set PgBouncer's pool_mode to transaction or session: the store needs transactions.",
    ],
  ]
  return (error) => {
    const matching = fixes.filter(([pattern]) => pattern.test(`${codeOf(error)} ${error}`))
    return matching.map(([, fix]) => fix).join(' ') || undefined
  }
}
