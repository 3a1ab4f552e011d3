import { once } from 'node:events'
import { createConnection } from 'mysql2/promise'
import { startMariadb } from './mariadb.js'
import { describeSqlServer } from './sql-suite.js'

const server = describeSqlServer({
  start: startMariadb,
  variable: 'MYSQL_URL',
  databases: 'SELECT group_concat(schema_name ORDER BY 1) AS `databases` FROM information_schema.schemata',
  wrongArgs: ['--no-such-option'],
  complaint: /^mariadb did not start.*unknown option '--no-such-option'/s,
})

test('MariaDB listens on loopback only, and commits do not wait for the disk', async () => {
  const settings = 'SELECT @@bind_address AS host, @@port AS port, @@innodb_flush_log_at_trx_commit AS flush'
  expect(await server().query(settings)).toEqual([{ host: '127.0.0.1', port: server().port, flush: 2 }])
})

test('startMariadb takes options, which come after its own', async () => {
  const small = await startMariadb({ args: ['--innodb-buffer-pool-size=8M'] })
  try {
    const size = 'SELECT @@innodb_buffer_pool_size AS size'
    expect(await small.query(size)).toEqual([{ size: 8 * 1024 * 1024 }])
  } finally {
    await small.stop()
  }
})

test('stopping does not wait for a connection that a test left open', async () => {
  const left = await startMariadb({ own: true })
  const connection = await createConnection(left.url)
  const broken = once(connection, 'error')
  const startedMs = performance.now()
  await left.stop()
  expect(performance.now() - startedMs).toBeLessThan(1500)
  await broken
})
