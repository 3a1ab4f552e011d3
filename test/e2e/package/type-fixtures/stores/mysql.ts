import { rateLimit, type Store } from 'headgate/http'
import { mysqlSchema, mysqlStore } from 'headgate/mysql'
import { createPool } from 'mysql2'
import { createPool as createPromisePool } from 'mysql2/promise'

const url = 'mysql://localhost/app'
const pool = createPool(url)
const store: Store = mysqlStore(pool, { table: 'limits' })
export const limiters = [store, mysqlStore(createPromisePool(url)), mysqlStore(pool.promise())].map((each) =>
  rateLimit({ limit: 2, window: '1h', store: each }),
)
export const schema: string = mysqlSchema({ table: 'limits' })
export const prepared: Promise<void> = mysqlStore(createPool({ host: 'localhost' })).prepare()

export const mistakes = [
  // @ts-expect-error: a URL is no pool
  () => mysqlStore(url),
  // @ts-expect-error: there is no such option
  () => mysqlStore(pool, { tabel: 'limits' }),
]
