import type { SqlStore } from 'headgate/postgres'
import type { State } from 'headgate/store'
import type { SqlOptions, SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { Kind, PoolOptions, UserPool } from './database-kind.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'

/** Both promise the same, so every test runs on each. */
export const DATABASES: readonly (readonly [string, Kind])[] = [
  ['MariaDB', mariadb],
  ['PostgreSQL', postgres],
]

/** A server for the tests of one `describe`, and what they open on it. */
export interface DatabaseSetup {
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

/**
 * Writes so many rows with these names and a number, all of the same state and expiry. By default, the state is
 * that of a consecutive limit of which nothing is taken.
 */
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
export function setUpDatabase({ start, open }: Kind, options?: SqlOptions): DatabaseSetup {
  const pools: UserPool[] = []
  let server: SqlServer
  let tables = 0
  let maker: UserPool | undefined
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

  const database: DatabaseSetup = {
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
      maker ??= database.open({ size: 1 })
      const store = maker.makeStore({ table })
      await store.prepare()
      await store.close()
      return table
    },
    async makeStore(options) {
      const table = await database.makeTable()
      const pool = database.open(options)
      return { store: pool.makeStore({ table }), pool, table }
    },
  }
  return database
}
