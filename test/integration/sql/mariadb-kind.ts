import assert from 'node:assert/strict'
import { mysqlStore, type SqlStore } from 'headgate/mysql'
import type { PoolConnection, QueryOptions } from 'mysql2'
import { createPool, type PoolOptions as DriverOptions, type Pool } from 'mysql2/promise'
import { encodeState } from '../../../src/stores/shared/state-bytes.js'
import { mysqlDialect } from '../../../src/stores/sql/mysql/dialect.js'
import { withConnection } from '../../../src/stores/sql/with-connection.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import type { Kind, PoolOptions, Row, Session, UserPool } from './database-kind.js'

/** MariaDB, by mysql2. */
export const mariadb: Kind = {
  name: 'mysql',
  quote: (name) => `\`${name}\``,
  literal: (state) => `x'${encodeState(state).toString('hex')}'`,
  start: startMariadb,
  unflushed: ['--innodb-flush-log-at-trx-commit=0'],
  open,
}

/** MariaDB, which gets what MySQL does. */
export const mysql: Kind = { ...mariadb, open: (url, options) => open(url, options, readAsMysql) }

/** Makes MariaDB skip the comments that it runs and MySQL skips. */
function readAsMysql(connection: PoolConnection): void {
  const query = connection.query as (options: QueryOptions, ...rest: unknown[]) => unknown
  const asMysql: typeof query = (options, ...rest) => {
    options.sql = options.sql.replace(/\/\*M!.*?\*\//g, '')
    assert.ok(!options.sql.includes('NOT ATOMIC'), 'MySQL has no compound statements')
    return query.call(connection, options, ...rest)
  }
  Object.assign(connection, { query: asMysql })
}

function open(
  url: string,
  { size = 10, settings = [], driver = {} }: PoolOptions = {},
  adapt: (connection: PoolConnection) => void = () => {},
): UserPool {
  const options: DriverOptions = { uri: url, connectionLimit: size, ...driver }
  const pool = createPool(options)
  const stores: SqlStore[] = []
  let ended: Promise<void> | undefined
  // What is sent here comes before anything that the pool's user sends.
  pool.pool.on('connection', (connection) => {
    for (const setting of settings) connection.query(`SET SESSION ${setting}`)
    adapt(connection)
  })
  return {
    makeStore(options) {
      const store = mysqlStore(pool, options)
      stores.push(store)
      return store
    },
    removeExpired(table, limit) {
      const dialect = mysqlDialect(pool.pool, [table])
      return withConnection(dialect, (connection) => dialect.removeExpired(connection, limit))
    },
    run: (sql) => run(pool, sql),
    async take(): Promise<Session> {
      const connection = await pool.getConnection()
      return { run: (sql) => run(connection, sql), release: () => connection.release() }
    },
    end({ closing = stores } = {}) {
      ended ??= Promise.all(closing.map((store) => store.close())).then(() => pool.end())
      return ended
    },
  }
}

async function run(on: Pick<Pool, 'query'>, sql: string): Promise<Row[]> {
  const [rows] = await on.query({ sql, rowsAsArray: false, typeCast: true })
  return Array.isArray(rows) ? (rows as Row[]) : []
}
