import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { mysqlStore } from 'headgate/mysql'
import type { PoolConnection, QueryOptions } from 'mysql2'
import { createPool, type Pool } from 'mysql2/promise'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import { describeStoreConformance } from '../../support/store-conformance.js'

let server: SqlServer
const pools: Pool[] = []

beforeAll(async () => {
  server = await startMariadb()
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await server?.stop()
})

/** Makes MariaDB skip the comments that it runs and MySQL skips, so that it gets what MySQL does. */
function readAsMysql(connection: PoolConnection): void {
  const query = connection.query as (options: QueryOptions, ...rest: unknown[]) => unknown
  const asMysql: typeof query = (options, ...rest) => {
    options.sql = options.sql.replace(/\/\*M!.*?\*\//g, '')
    assert.ok(!options.sql.includes('NOT ATOMIC'), 'MySQL has no compound statements')
    return query.call(connection, options, ...rest)
  }
  Object.assign(connection, { query: asMysql })
}

test('all documents are read on MySQL, whatever sql_select_limit is', async () => {
  const pool = createPool({ uri: server.url, connectionLimit: 1 })
  pools.push(pool)
  pool.pool.on('connection', (connection) => {
    connection.query('SET SESSION sql_select_limit = 1')
    readAsMysql(connection)
  })
  const store = mysqlStore(pool)
  await store.prepare()
  const { documents } = store
  for (const key of ['one', 'two']) expect(await documents?.replace(key, key, undefined)).toBe(true)
  const read = await documents?.read([{ key: 'one' }, { key: 'two' }])
  expect(read).toMatchObject([{ text: 'one' }, { text: 'two' }])
  await pool.query('DELETE FROM headgate_documents')
})

describe.each([
  ['MariaDB', undefined],
  ['MySQL', readAsMysql],
])('%s', (_, adapt) => {
  let pool: Pool

  beforeAll(async () => {
    pool = createPool({ uri: server.url, connectionLimit: 10 })
    pools.push(pool)
    if (adapt) pool.pool.on('connection', adapt)
    await mysqlStore(pool).prepare()
  })

  describeStoreConformance('mysqlStore', {
    capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
    async makeStore() {
      await pool.query('DELETE FROM headgate')
      await pool.query('DELETE FROM headgate_documents')
      return { store: mysqlStore(pool), advance: (ms) => pause(ms + 2) }
    },
  })
})
