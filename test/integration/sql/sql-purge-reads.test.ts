import { until } from '../../support/servers/wait.js'
import type { Kind, UserPool } from './database-kind.js'
import { DATABASES, insertRows, setUpDatabase } from './set-up-database.js'

const LIVING = 60_000
const EXPIRED = 1200
/** Of rows that no index names, hardly any may be read: less than a hundredth of the table. */
const MOST_READ = LIVING / 100

interface Reads {
  /** Lets the server know how many rows there are. */
  readonly analyze: (table: string) => string
  /** Counts the rows that have been read without an index. */
  readonly scanned: (table: string) => string
  /** Names the indexes of a table. */
  readonly indexes: (table: string) => string
}

const READS: Readonly<Record<Kind['name'], Reads>> = {
  mysql: {
    analyze: (table) => `ANALYZE TABLE ${table}`,
    scanned: () => `SHOW GLOBAL STATUS LIKE 'Handler_read_rnd_next'`,
    indexes: (table) =>
      `SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_name = '${table}'`,
  },
  postgres: {
    analyze: (table) => `ANALYZE ${table}`,
    scanned: (table) => `SELECT seq_tup_read AS "Value" FROM pg_stat_user_tables WHERE relname = '${table}'`,
    indexes: (table) => `SELECT indexname AS name FROM pg_indexes WHERE tablename = '${table}'`,
  },
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind, { own: true })
  const { analyze, scanned, indexes } = READS[kind.name]

  /** A large table, of which a little has expired. */
  async function makeLarge(): Promise<{ pool: UserPool; table: string }> {
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'living', count: LIVING, expiresAtS: 4_000_000_000 })
    await insertRows(kind, pool, table, { name: 'old', count: EXPIRED, expiresAtS: 1 })
    await pool.run(analyze(table))
    return { pool, table }
  }

  /** The server's counts once its connections have ended: some report only then, or a second later. */
  async function scannedIn(table: string): Promise<number> {
    let last = -1
    await until(
      'the count stays',
      async () => {
        const [row] = await database.server.query(scanned(table))
        const count = Number(row?.Value)
        const isSame = count - last < MOST_READ / 10
        last = count
        return isSame
      },
      { everyMs: 1200 },
    )
    return last
  }

  test('a purge of a large table reads only by the indexes', async () => {
    const { pool, table } = await makeLarge()
    expect((await pool.run(indexes(table))).map(({ name }) => name)).toContain(`${table}_expires_at`)
    const before = await scannedIn(table)
    const purging = database.open()
    let removed = 0
    for (let found = -1; found !== 0; removed += found) found = await purging.removeExpired(table, 500)
    expect(removed).toBe(EXPIRED)
    await purging.end()
    expect((await scannedIn(table)) - before).toBeLessThan(MOST_READ)
    await pool.run(`SELECT count(*) FROM ${table} WHERE state = ${kind.literal([1])}`) // so much is seen when it is read
    await pool.end()
    expect((await scannedIn(table)) - before).toBeGreaterThan(LIVING - MOST_READ)
  })
})
