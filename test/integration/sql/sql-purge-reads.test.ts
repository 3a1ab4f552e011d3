import type { Kind, UserPool } from './database-kind.js'
import { DATABASES, insertRows, setUpDatabase } from './set-up-database.js'

const LIVING = 60_000
const EXPIRED = 1200
/** Of rows that no index names, hardly any may be read: less than a hundredth of the table. */
const MOST_READ = LIVING / 100

interface Reads {
  /** Lets the server know how many rows there are. */
  readonly analyze: (table: string) => string
  /** Makes a connection report what it has read, if it would do so only later. */
  readonly report?: string
  /** Counts the rows that this connection has read without an index. */
  readonly scanned: (table: string) => string
  /** Names the indexes of a table. */
  readonly indexes: (table: string) => string
}

const READS: Readonly<Record<Kind['name'], Reads>> = {
  mysql: {
    analyze: (table) => `ANALYZE TABLE ${table}`,
    scanned: () => `SHOW SESSION STATUS LIKE 'Handler_read_rnd_next'`,
    indexes: (table) =>
      `SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_name = '${table}'`,
  },
  postgres: {
    analyze: (table) => `ANALYZE ${table}`,
    report: 'SELECT pg_stat_force_next_flush()',
    scanned: (table) => `SELECT seq_tup_read AS "Value" FROM pg_stat_user_tables WHERE relname = '${table}'`,
    indexes: (table) => `SELECT indexname AS name FROM pg_indexes WHERE tablename = '${table}'`,
  },
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)
  const { analyze, report, scanned, indexes } = READS[kind.name]

  /** A large table, of which a little has expired, and a pool of one connection. */
  async function makeLarge(): Promise<{ pool: UserPool; table: string }> {
    const { pool, table } = await database.makeStore({ size: 1 })
    await insertRows(kind, pool, table, { name: 'living', count: LIVING, expiresAtS: 4_000_000_000 })
    await insertRows(kind, pool, table, { name: 'old', count: EXPIRED, expiresAtS: 1 })
    await pool.run(analyze(table))
    return { pool, table }
  }

  async function scannedBy(pool: UserPool, table: string): Promise<number> {
    if (report !== undefined) await pool.run(report)
    const [row] = await pool.run(scanned(table))
    return Number(row?.Value)
  }

  test('a purge of a large table reads only by the indexes', async () => {
    const { pool, table } = await makeLarge()
    expect((await pool.run(indexes(table))).map(({ name }) => name)).toContain(`${table}_expires_at`)
    const before = await scannedBy(pool, table)
    let removed = 0
    for (let found = -1; found !== 0; removed += found) found = await pool.removeExpired(table, 500)
    expect(removed).toBe(EXPIRED)
    expect((await scannedBy(pool, table)) - before).toBeLessThan(MOST_READ)
    await pool.run(`SELECT count(*) FROM ${table} WHERE state = ${kind.literal([1])}`) // so much is seen when it is read
    expect((await scannedBy(pool, table)) - before).toBeGreaterThan(LIVING - MOST_READ)
  })
})
