import { mysqlStore, postgresStore, type SqlStore, type Store } from 'headgate'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { tellWhenAway, watched } from './away.js'
import type { DemoStore } from './store.js'

/** The table is made before the first request, or, while the database is away, with the first charge that reaches it. */
export async function storeInDatabase(url: string): Promise<DemoStore> {
  const { name, store, end } = url.startsWith('mysql:') ? inMysql(url) : inPostgres(url)
  const teller = tellWhenAway('DATABASE_URL', name)
  const prepared = preparedFirst(store)
  await prepared.prepare().catch(teller.awayBy)
  return {
    store: watched(prepared, teller),
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
  pool.on('error', () => undefined) // an idle connection was lost: charges tell
  return { name: 'PostgreSQL', store: postgresStore(pool), end: () => pool.end() }
}

/** Charges wait until the table is there. Where making it fails, the next one tries again. */
function preparedFirst(store: SqlStore): Store & Pick<SqlStore, 'prepare'> {
  let isPrepared: Promise<void> | undefined
  const prepare = () => {
    isPrepared ??= store.prepare().catch((error: unknown) => {
      isPrepared = undefined
      throw error
    })
    return isPrepared
  }
  return {
    ...store,
    prepare,
    charge: async (charges) => {
      await prepare()
      return store.charge(charges)
    },
  }
}
