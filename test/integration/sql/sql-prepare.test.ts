import { consecutive } from 'headgate'
import { mysqlSchema } from 'headgate/mysql'
import { postgresSchema, type SqlStore } from 'headgate/postgres'
import { allowedCount, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore } from '../../support/store-calls.js'
import type { Kind } from './database-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const policy = consecutive({ limit: 2 })

/** Makes a schema, which in MySQL is a database. */
const SCHEMA: Readonly<Record<Kind['name'], { readonly make: string; readonly drop: string }>> = {
  mysql: { make: 'CREATE DATABASE limits_of_ours', drop: 'DROP DATABASE limits_of_ours' },
  postgres: { make: 'CREATE SCHEMA limits_of_ours', drop: 'DROP SCHEMA limits_of_ours CASCADE' },
}
const SQL_OF = { mysql: mysqlSchema, postgres: postgresSchema }

/** Names that are good ones, though some are words of SQL. */
const NAMES = ['h', 'order', 'key', 'Select', 'LIMITS', 'limits', '_', '$'.padStart(2, 'a'), 'x'.repeat(51)]

async function expectWorks(store: SqlStore): Promise<void> {
  await forgetStore(store, [part('a', policy)])
  const verdicts = await chargeStore(
    store,
    [1, 1, 1].map(() => [part('a', policy)]),
  )
  expect(allowedCount(verdicts)).toBe(2)
  await forgetStore(store, [part('a', policy)])
  for (const allowed of [1, 1, 0])
    expect(allowedCount(await chargeStore(store, [[part('a', policy)]]))).toBe(allowed)
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)
  const sqlOf = SQL_OF[kind.name]

  test('prepare() may be called again, and keeps existing rows', async () => {
    const store = database.open().makeStore()
    await store.prepare()
    await chargeStore(store, [[part('a', policy, 2)]])
    await store.prepare()
    expect(allowedCount(await chargeStore(store, [[part('a', policy)]]))).toBe(0)
  })

  test('prepare() may be called by four processes at once', async () => {
    const pools = Array.from({ length: 4 }, () => database.open())
    await Promise.all(pools.map((pool) => pool.run('SELECT 1'))) // all are connected
    for (let round = 0; round < 8; round++) {
      const stores = pools.map((pool) => pool.makeStore({ table: `made_${round}` }))
      await Promise.all(stores.map((store) => store.prepare()))
    }
    await expectWorks(database.open().makeStore({ table: 'made_0' }))
  })

  test('the exported SQL makes the same table, whose default name is the same', async () => {
    const pool = database.open()
    await pool.run('DROP TABLE IF EXISTS headgate')
    for (const sql of sqlOf().split(';')) await pool.run(sql)
    await expectWorks(pool.makeStore())
    await pool.makeStore().prepare()
    await expectWorks(pool.makeStore({ table: 'headgate' }))
  })

  test.each(NAMES)('a table may be called %s', async (table) => {
    const pool = database.open({ size: 2 })
    await pool.makeStore({ table }).prepare()
    await expectWorks(pool.makeStore({ table }))
    expect(await pool.removeExpired(table, 10)).toBe(0)
    await pool.run(`DROP TABLE ${kind.quote(table)}`)
    await pool.end()
  })

  test('tables of the same name in two schemas are two', async () => {
    const pool = database.open()
    await pool.run(SCHEMA[kind.name].make)
    try {
      const stores = ['limits_of_ours.limits', 'limits'].map((table) => pool.makeStore({ table }))
      for (const store of stores) await store.prepare()
      for (const store of stores) await expectWorks(store)
    } finally {
      await pool.run(SCHEMA[kind.name].drop)
    }
  })
})
