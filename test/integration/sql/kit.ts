import type { SqlStore, State } from 'headgate'
import type { SqlOptions, SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'

export type Row = Record<string, unknown>

/** What a test says about a pool. */
export interface PoolOptions {
  /** The most connections. Default 10. */
  readonly size?: number
  /** What is set on each connection, such as `sql_mode=''` or `timezone=UTC`. */
  readonly settings?: readonly string[]
  /** More options of the driver. */
  readonly driver?: object
}

/** One connection, which a test has for itself. */
export interface Session {
  /** Runs one statement and returns the rows, where it has some. */
  run(sql: string): Promise<Row[]>
  /** Gives it back to its pool. */
  release(): void
}

/** A pool as a user has it, and what a test does with it. */
export interface UserPool {
  makeStore(options?: { table?: string }): SqlStore
  /** Removes expired rows of a table, up to `limit`, and returns how many. */
  removeExpired(table: string, limit: number): Promise<number>
  run(sql: string): Promise<Row[]>
  /** Takes a connection out of the pool. */
  take(): Promise<Session>
  /** Ends it, after closing the stores over it, or those that are named. May be called again. */
  end(options?: { closing?: readonly SqlStore[] }): Promise<void>
}

/** A kind of database, with the driver for it. */
export interface Kind {
  readonly name: 'mysql' | 'postgres'
  /** A name as it stands in SQL. */
  quote(name: string): string
  /** A state as it stands in SQL. */
  literal(state: State): string
  start(options?: SqlOptions): Promise<SqlServer>
  /** Options of a server whose commits do not wait for the disk. If it is killed, the last ones are lost. */
  readonly unflushed: readonly string[]
  open(url: string, options?: PoolOptions): UserPool
}

/** Both promise the same, so every test runs on each. */
export const DATABASES: readonly (readonly [string, Kind])[] = [
  ['MariaDB', mariadb],
  ['PostgreSQL', postgres],
]

/** A server for the tests of one `describe`, and what they open on it. */
export interface Surroundings {
  readonly server: SqlServer
  /** Opens a pool, which is ended when the tests are done. */
  open(options?: PoolOptions): UserPool
  /** The same as another user, or to another database. */
  openAs(change: (url: URL) => void, options?: PoolOptions): UserPool
  /** Makes an empty table of a new name. */
  makeTable(): Promise<string>
  /** A store over a pool and a table of its own. */
  makeStore(options?: PoolOptions): Promise<{ store: SqlStore; pool: UserPool; table: string }>
}

/** Writes so many rows with these names and a number, all of the same state and expiry. */
export async function insertRows(
  { literal }: Kind,
  { run }: UserPool,
  table: string,
  rows: {
    readonly name: string
    readonly count: number
    readonly state?: State
    readonly expiresAtS: number
  },
): Promise<void> {
  const { name, count, state = [0], expiresAtS } = rows
  for (let from = 0; from < count; from += 1000) {
    const values = Array.from(
      { length: Math.min(1000, count - from) },
      (_, i) => `('${name}:${from + i}', ${literal(state)}, ${expiresAtS})`,
    )
    await run(`INSERT INTO ${table} VALUES ${values}`)
  }
}

/** Starts a server before the tests, and ends all afterwards. */
export function surroundings({ start, open }: Kind, options?: SqlOptions): Surroundings {
  const pools: UserPool[] = []
  let server: SqlServer
  let tables = 0
  const keep = (pool: UserPool) => {
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    server = await start(options)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server?.stop()
  })

  const around: Surroundings = {
    get server() {
      return server
    },
    open: (options) => keep(open(server.url, options)),
    openAs(change, options) {
      const url = new URL(server.url)
      change(url)
      return keep(open(url.href, options))
    },
    async makeTable() {
      const table = `limits_${++tables}`
      const pool = open(server.url)
      await pool.makeStore({ table }).prepare()
      await pool.end()
      return table
    },
    async makeStore(options) {
      const table = await around.makeTable()
      const pool = around.open(options)
      return { store: pool.makeStore({ table }), pool, table }
    },
  }
  return around
}
