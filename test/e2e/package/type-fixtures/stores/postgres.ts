import { rateLimit, type Store } from 'headgate/http'
import { postgresSchema, postgresStore } from 'headgate/postgres'
import pg, { Client, Pool } from 'pg'

const connectionString = 'postgres://localhost/app'
const pool = new Pool({ connectionString })
const store: Store = postgresStore(pool, { table: 'limits' })
export const limiters = [store, postgresStore(new pg.Pool())].map((each) =>
  rateLimit({ limit: 2, window: '1h', store: each }),
)
export const schema: string = postgresSchema({ table: 'limits' })
export const prepared: Promise<void> = postgresStore(pool).prepare()

export const mistakes = [
  // @ts-expect-error: a URL is no pool
  () => postgresStore(connectionString),
  // @ts-expect-error: a client is one connection
  () => postgresStore(new Client()),
  // @ts-expect-error: there is no such option
  () => postgresStore(pool, { tabel: 'limits' }),
]
