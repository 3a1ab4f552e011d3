import type { Store } from 'headgate'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore, type SqlStore } from 'headgate/postgres'
import { customStore } from 'headgate/store'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { outageReporter, reportingStore } from './outage-reporter.js'
import type { DemoStore } from './store.js'

/** Creates the table at once or, if the database is down, with the first charge that reaches it. */
export async function storeInDatabase(url: string): Promise<DemoStore> {
  const { name, store, end } = url.startsWith('mysql:') ? inMysql(url) : inPostgres(url)
  const reporter = outageReporter('DATABASE_URL', name)
  const prepared = preparedStore(store)
  await prepared.prepare().catch(reporter.reportError)
  return {
    store: reportingStore(prepared, reporter),
    where: `in ${name}, shared by all demos with the same DATABASE_URL`,
    async close() {
      await store.close()
      await end() // the demo's own pool, so the demo closes it
    },
  }
}

function inMysql(url: string) {
  const pool = createPool({ uri: url })
  return { name: 'MySQL', store: mysqlStore(pool), end: () => pool.end() }
}

function inPostgres(url: string) {
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => undefined) // an idle connection was lost: the next charge reports it
  return { name: 'PostgreSQL', store: postgresStore(pool), end: () => pool.end() }
}

/** Returns a store whose operations wait for the table. If creating it fails, the next one retries. */
function preparedStore(store: SqlStore): Store & Pick<SqlStore, 'prepare'> {
  let isPrepared: Promise<void> | undefined
  const prepare = () => {
    isPrepared ??= store.prepare().catch((error: unknown) => {
      isPrepared = undefined
      throw error
    })
    return isPrepared
  }
  return customStore({
    ...store,
    prepare,
    apply: async (operations, settle) => {
      await prepare()
      return store.apply(operations, settle)
    },
  })
}
