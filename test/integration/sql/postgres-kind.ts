import { postgresStore, type SqlStore } from 'headgate/postgres'
import { Pool } from 'pg'
import { postgresDialect } from '../../../src/stores/sql/postgres/dialect.js'
import { withConnection } from '../../../src/stores/sql/with-connection.js'
import { startPostgres } from '../../support/servers/postgres.js'
import type { Kind, PoolOptions, Session, UserPool } from './database-kind.js'

/** PostgreSQL, by pg. */
export const postgres: Kind = {
  name: 'postgres',
  quote: (name) => `"${name}"`,
  literal: (state) => `'{${state}}'`,
  start: startPostgres,
  unflushed: ['-c', 'synchronous_commit=off'],
  open,
}

function open(url: string, { size = 10, settings = [], driver = {} }: PoolOptions = {}): UserPool {
  const options = settings.map((setting) => `-c ${setting}`).join(' ')
  const pool = new Pool({ connectionString: url, max: size, options, ...driver })
  const stores: SqlStore[] = []
  let ended: Promise<void> | undefined
  pool.on('error', ignore) // of a connection that nobody uses: without it, the process would end
  return {
    makeStore(options) {
      const store = postgresStore(pool, options)
      stores.push(store)
      return store
    },
    removeExpired(table, limit) {
      const dialect = postgresDialect(pool, [table])
      return withConnection(dialect, (connection) => dialect.removeExpired(connection, limit))
    },
    run: async (sql) => (await pool.query(sql)).rows,
    async take(): Promise<Session> {
      const client = await pool.connect()
      client.on('error', ignore) // a query under way rejects when it breaks
      return {
        run: async (sql) => (await client.query(sql)).rows,
        release() {
          client.removeListener('error', ignore)
          client.release()
        },
      }
    },
    end({ closing = stores } = {}) {
      ended ??= Promise.all(closing.map((store) => store.close())).then(() => pool.end())
      return ended
    },
  }
}

function ignore(): void {}
