import { DatabaseSync } from 'node:sqlite'
import { rateLimit, type Store } from 'headgate/http'
import { sqliteSchema, sqliteStore } from 'headgate/sqlite'

const database = new DatabaseSync('limits.db')
const store: Store = sqliteStore(database, { table: 'limits' })
export const limiters = [store, sqliteStore(new DatabaseSync(':memory:', { open: false }))].map((each) =>
  rateLimit({ limit: 2, window: '1h', store: each }),
)
export const schema: string = sqliteSchema({ table: 'limits' })
export const prepared: Promise<void> = sqliteStore(database).prepare()

export const mistakes = [
  // @ts-expect-error: a path is no database
  () => sqliteStore('limits.db'),
  // @ts-expect-error: there is no such option
  () => sqliteStore(database, { tabel: 'limits' }),
]
