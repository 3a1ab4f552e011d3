import type { SqlStore } from 'headgate/postgres'
import type { MaybePromise } from 'headgate/store'
import type { Kind } from './database-kind.js'
import { CALLS, failureOf, WRITES } from './failures.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

type Shape = readonly [string, columns: string]

/** Tables of other shapes, and the columns of each. */
const SHAPES: Readonly<Record<Kind['name'], readonly Shape[]>> = {
  mysql: [
    ['of another package', '`key` VARCHAR(255) PRIMARY KEY, points INT, expire BIGINT'],
    ['without keys', 'id INT PRIMARY KEY, state VARBINARY(99), expires_at BIGINT'],
    ['without expiries', '`key` VARBINARY(255) PRIMARY KEY, state VARBINARY(99)'],
    ['with states of text', '`key` VARBINARY(255) PRIMARY KEY, state TEXT, expires_at BIGINT'],
    [
      'with states that are too short',
      '`key` VARBINARY(255) PRIMARY KEY, state VARBINARY(4), expires_at BIGINT',
    ],
    ['with numbers for keys', '`key` INT PRIMARY KEY, state VARBINARY(99), expires_at BIGINT'],
    ['with dates', '`key` VARBINARY(255) PRIMARY KEY, state VARBINARY(99), expires_at DATETIME'],
    [
      'with one more column',
      '`key` VARBINARY(255) PRIMARY KEY, state VARBINARY(99), expires_at BIGINT, at INT NOT NULL',
    ],
  ],
  postgres: [
    ['of another package', 'key varchar(255) PRIMARY KEY, points integer, expire bigint'],
    ['without keys', 'id int PRIMARY KEY, state float8[], expires_at bigint'],
    ['without expiries', 'key bytea PRIMARY KEY, state float8[]'],
    ['with keys of text', 'key text PRIMARY KEY, state float8[], expires_at bigint'],
    ['with states of bytes', 'key bytea PRIMARY KEY, state bytea, expires_at bigint'],
    ['with states of one number', 'key bytea PRIMARY KEY, state float8, expires_at bigint'],
    ['with dates', 'key bytea PRIMARY KEY, state float8[], expires_at timestamptz'],
    ['without a primary key', 'key bytea, state float8[], expires_at bigint'],
    ['with one more column', 'key bytea PRIMARY KEY, state float8[], expires_at bigint, at int NOT NULL'],
  ],
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)
  const schema = `${kind.name}Schema()`

  describe('where the table is missing', () => {
    test.each(CALLS)('%s says what to run', async (_title, call) => {
      const store = database.open().makeStore({ table: 'missing' })
      const { message } = await failureOf(kind, call(store))
      expect(message).toContain('missing')
      expect(message).toContain(
        `Await the store's prepare() before the first request, or run the SQL that ${schema} returns`,
      )
    })

    test('calls succeed as soon as the printed statements have run', async () => {
      const store = database.open().makeStore({ table: 'missing_at_first' })
      for (const [, call] of CALLS) await failureOf(kind, call(store))
      await store.prepare()
      for (const [, call] of CALLS) await call(store)
    })
  })

  describe.each(SHAPES[kind.name])('where there is a table %s', (title, columns) => {
    const table = `other_${title.replaceAll(' ', '_')}`

    test.each(WRITES)('prepare(), or %s, says that it differs', async (_call, call) => {
      const pool = database.open({ size: 1 })
      await pool.run(`DROP TABLE IF EXISTS ${table}`)
      await pool.run(`CREATE TABLE ${table} (${columns})`)
      const { message } = await failureOf(kind, use(pool.makeStore({ table }), call))
      expect(message).toContain(`The table ${kind.quote(table)} differs from the one that ${schema} creates`)
      await pool.end()
    })
  })
})

/** At the latest, what the first calls have written cannot be read. */
async function use(store: SqlStore, call: (store: SqlStore) => MaybePromise<unknown>): Promise<void> {
  await store.prepare()
  await call(store)
  await call(store)
  for (const [, each] of WRITES) await each(store)
}
