import { Client } from 'pg'
import { costsOf, costTable, DECISIONS } from '../../support/decision-costs.js'
import { mariadb, mysql } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'
import { type DatabaseSetup, setUpDatabase } from './set-up-database.js'

/** The first purge of a store is then almost a minute away. */
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0.999))

/** Reads what a connection or a table counts. */
type ReadCounters = (
  run: (sql: string) => Promise<Record<string, unknown>[]>,
  table: string,
) => Promise<object>

/**
 * Returns how far some counters go up with each decision. The pool has one connection. What it takes to read
 * the counters is subtracted.
 */
async function countedOn(database: DatabaseSetup, read: ReadCounters, names: readonly string[]) {
  // without sequential scans, as in a large table
  const settings = read === readPostgres ? ['enable_seqscan=off'] : []
  const { store, pool, table } = await database.makeStore({ size: 1, settings })
  const countersNow = async () => {
    const counters = new Map<string, unknown>(Object.entries(await read(pool.run, table)))
    return names.map((name) => Number(counters.get(name)))
  }
  return costsOf(store, DECISIONS, async (step) => {
    const [first, before] = [await countersNow(), await countersNow()]
    await step()
    return (await countersNow()).map((after, i) => after - 2 * Number(before[i]) + Number(first[i]))
  })
}

const readMysql: ReadCounters = async (run) =>
  Object.fromEntries((await run('SHOW SESSION STATUS')).map((row) => [row.Variable_name, row.Value]))

/** Returns the statements, and the rows that are read and written. Each statement is a round trip. */
async function costsOnMysql(database: DatabaseSetup) {
  const names = ['Questions', 'Rows_read', 'Handler_write', 'Handler_update', 'Handler_delete']
  const rows = await countedOn(database, readMysql, names)
  return rows.map(([decision, [statements = 0, read = 0, inserted = 0, updated = 0, deleted = 0]]) => {
    const written = Math.max(inserted, updated) + deleted // an `INSERT` that updates a row counts as both
    return [decision, [statements, read, written]] as const
  })
}

describe('MariaDB and MySQL', () => {
  const [onMariadb, onMysql] = [setUpDatabase(mariadb), setUpDatabase(mysql)]

  test('a decision costs what the page says', async () => {
    const [ofMariadb, ofMysql] = [await costsOnMysql(onMariadb), await costsOnMysql(onMysql)]
    const table = costTable('mysql')
    const without = (column: number) =>
      table.map(([decision, figures]) => [decision, figures.filter((_, i) => i !== column)])
    expect(without(1)).toEqual(ofMariadb)
    expect(without(0)).toEqual(ofMysql)
  })
})

const query = jest.spyOn(Client.prototype, 'query')
afterAll(() => query.mockRestore())

const readPostgres: ReadCounters = async (run, table) => {
  await run('SELECT pg_stat_force_next_flush()')
  const [statistics = {}] = await run(`SELECT * FROM pg_stat_user_tables WHERE relname = '${table}'`)
  return { ...statistics, queries: query.mock.calls.length }
}

describe('PostgreSQL', () => {
  const database = setUpDatabase(postgres)

  test('a decision costs what the page says', async () => {
    const names = ['queries', 'idx_tup_fetch', 'n_tup_ins', 'n_tup_upd', 'n_tup_del']
    const rows = await countedOn(database, readPostgres, names)
    const costs = rows.map(([decision, [queries, read, ...written]]) => {
      return [decision, [queries, read, written.reduce((sum, count) => sum + count, 0)]] as const
    })
    expect(costTable('postgresql')).toEqual(costs)
  })
})
