import { consecutive } from 'headgate'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { CALLS, failureOf } from './failures.js'
import { mariadb } from './mariadb-kind.js'
import { setUpDatabase } from './set-up-database.js'

const policy = consecutive({ limit: 10_000 })
const POOLS = 4
const ROUNDS = 12
const KEYS = ['a', 'b', 'c']

const [CHARGE_ALONE, ...IN_TRANSACTIONS] = CALLS.filter(([title]) => title !== 'a peek')

describe('where the server writes its log by statement', () => {
  const database = setUpDatabase(mariadb, {
    args: ['--log-bin=log', '--server-id=1', '--binlog-format=STATEMENT'],
  })

  test.each(IN_TRANSACTIONS)('%s says what to set, and that is enough', async (_title, call) => {
    const { store, pool, table } = await database.makeStore()
    const { message } = await failureOf(mariadb, call(store))
    expect(message).toContain('Set binlog_format to ROW or MIXED on the server')
    expect(await pool.run(`SELECT * FROM ${table}`)).toEqual([])
    await pool.end()
    for (const format of ['ROW', 'MIXED']) {
      const set = database.open({ settings: [`binlog_format=${format}`] })
      await call(set.makeStore({ table }))
      await set.end()
    }
  })

  test('a single charge is decided nevertheless', async () => {
    const { store } = await database.makeStore()
    for (let i = 0; i < 3; i++) await CHARGE_ALONE?.[1](store)
  })
})

const database = setUpDatabase(mariadb)

describe('where the server rejects writes behind an old snapshot', () => {
  test.each(['SERIALIZABLE', 'REPEATABLE-READ'])(
    'charges of few keys by many pools are exact, and none fails: %s',
    async (level) => {
      const table = await database.makeTable()
      const pools = Array.from({ length: POOLS }, () => {
        return database.open({
          size: 3,
          settings: ['innodb_snapshot_isolation=ON', `tx_isolation='${level}'`],
        })
      })
      const ask = 'SELECT @@innodb_snapshot_isolation AS rejects, @@tx_isolation AS level'
      for (const pool of pools) expect(await pool.run(ask)).toEqual([{ rejects: 1, level }])
      await Promise.all(
        pools.map(async (pool) => {
          const store = pool.makeStore({ table })
          for (let i = 0; i < ROUNDS; i++) {
            for (const key of KEYS)
              expect(allowedCount(await chargeStore(store, [[part(key, policy)]]))).toBe(1)
            const together = await chargeStore(
              store,
              KEYS.map((key) => [part(key, policy)]),
            )
            expect(allowedCount(together)).toBe(KEYS.length)
          }
        }),
      )
      const [first] = pools
      const left = await remainingOf((first as (typeof pools)[number]).makeStore({ table }), policy, KEYS)
      expect(left).toEqual(KEYS.map(() => policy.limit - 2 * POOLS * ROUNDS))
      await Promise.all(pools.map((pool) => pool.end()))
    },
  )
})

describe('where autocommit is off, and a transaction was left open', () => {
  test.each(CALLS)('%s succeeds, and is committed', async (_title, call) => {
    const { pool, table } = await database.makeStore({ size: 3, settings: ['autocommit=0'] })
    const sessions = await Promise.all([1, 2, 3].map(() => pool.take()))
    for (const session of sessions) {
      await session.run(`SELECT count(*) FROM ${table}`)
      expect(await session.run('SELECT @@in_transaction AS isOpen')).toEqual([{ isOpen: 1 }])
    }
    for (const session of sessions) session.release()
    const others = database.open()
    await chargeStore(
      others.makeStore({ table }),
      KEYS.map((key) => [part(key, policy)]),
    )
    await call(pool.makeStore({ table }))
    const seen = `SELECT * FROM ${table} ORDER BY \`key\``
    const rows = await others.run(`${seen} FOR UPDATE`) // nobody holds one
    expect(await others.run(seen)).toEqual(rows)
    await pool.end()
    await others.end()
  })

  test('charges in one batch are counted once', async () => {
    const { store, pool, table } = await database.makeStore({ size: 1, settings: ['autocommit=0'] })
    for (let i = 1; i <= 5; i++) {
      await pool.run(`SELECT count(*) FROM ${table}`)
      expect(allowedCount(await chargeStore(store, [[part('a', policy)], [part('b', policy)]]))).toBe(2)
      const left = await remainingOf(database.open({ size: 1 }).makeStore({ table }), policy, ['a', 'b'])
      expect(left).toEqual([policy.limit - i, policy.limit - i])
    }
  })
})
