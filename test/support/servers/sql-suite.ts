import type { SqlOptions, SqlServer } from './databases.js'
import { INSTALL_TIMEOUT_MS } from './install.js'
import { nameServer } from './name-server.js'

export interface SqlSuite {
  readonly start: (options?: SqlOptions) => Promise<SqlServer>
  readonly variable: string
  /** A statement that sets the text `databases`: the names of the databases, with commas. */
  readonly databases: string
  readonly wrongArgs: readonly string[]
  /** What the server writes about them. */
  readonly complaint: RegExp
}

/** What holds for both kinds of SQL servers. Returns the server, which runs while the tests do. */
export function describeSqlServer(suite: SqlSuite): () => SqlServer {
  const { start, wrongArgs, complaint } = suite
  let server: SqlServer

  beforeAll(async () => {
    server = await start({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  test('the database is empty, and its user may make tables and users', async () => {
    const tables = `SELECT table_name FROM information_schema.tables
      WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'pg_catalog', 'sys')`
    expect(await server.query(tables)).toEqual([])
    await server.query('CREATE TABLE made (id INT PRIMARY KEY)')
    expect(await server.query(tables)).toHaveLength(1)
    await server.query('DROP TABLE made')
    await server.query('CREATE USER reader')
    await server.query('DROP USER reader')
  })

  test('a statement that is wrong rejects with its text', async () => {
    await expect(server.query('SELECT 1 FROM no_such_table')).rejects.toThrow('no_such_table')
  })

  test('a killed server comes back on its port with its data, in another process', async () => {
    const { pid } = server
    await server.query('CREATE TABLE kept AS SELECT 42 AS answer')
    await server.kill()
    await expect(server.query('SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.restart()
    expect(server.pid).not.toBe(pid)
    expect(await server.query('SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    await server.query('DROP TABLE kept')
  })

  test('a wrong option is named in the error', async () => {
    await expect(start({ args: wrongArgs })).rejects.toThrow(complaint)
  })

  describeGiven(suite, () => server)
  return () => server
}

function describeGiven({ start, variable, databases }: SqlSuite, server: () => SqlServer): void {
  describe(`where ${variable} names a server`, () => {
    nameServer(variable, () => server().url)

    const names = async () => String((await server().query(databases))[0]?.databases).split(',')

    test('each start gets a database of its own, which is dropped afterwards', async () => {
      const before = await names()
      const [first, second] = await Promise.all([start(), start()])
      expect([first.port, second.port]).toEqual([server().port, server().port])
      await first.query('CREATE TABLE made (id INT PRIMARY KEY)')
      await expect(second.query('SELECT id FROM made')).rejects.toThrow('made')
      expect(await names()).toHaveLength(before.length + 2)
      await Promise.all([first.stop(), second.stop(), first.stop()])
      expect(await names()).toEqual(before)
    })

    test('that server is neither killed nor restarted', async () => {
      const given = await start()
      await expect(given.kill()).rejects.toThrow('({ own: true })')
      await expect(given.restart()).rejects.toThrow('({ own: true })')
      await given.stop()
      expect(await server().query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    })
  })
}
