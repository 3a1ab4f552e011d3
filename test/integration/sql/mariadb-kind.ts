import { mysqlStore, type SqlStore } from 'headgate/mysql'
import { createPool, type PoolOptions as DriverOptions, type Pool } from 'mysql2/promise'
import { encodeState } from '../../../src/stores/shared/state-codec.js'
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

function open(url: string, { size = 10, settings = [], driver = {} }: PoolOptions = {}): UserPool {
  const options: DriverOptions = { uri: url, connectionLimit: size, ...driver }
  const pool = createPool(options)
  const stores: SqlStore[] = []
  let ended: Promise<void> | undefined
  // What is sent here comes before anything that the pool's user sends.
  pool.on('connection', (connection) => {
    for (const setting of settings) connection.query(`SET SESSION ${setting}`)
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
