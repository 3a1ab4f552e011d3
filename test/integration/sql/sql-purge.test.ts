import { setTimeout as pause } from 'node:timers/promises'
import { consecutive } from 'headgate'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Kind, UserPool } from './database-kind.js'
import { DATABASES, insertRows, setUpDatabase } from './set-up-database.js'

const MOST = 500
const LATER_S = 4_000_000_000
const policy = consecutive({ limit: 100 })

interface Settings {
  /** Settings by which a statement gives up soon. */
  readonly lockTimeout: string
  /** Settings that a user's connections may have. */
  readonly settings: readonly string[]
}

const SETTINGS: Readonly<Record<Kind['name'], Settings>> = {
  mysql: {
    lockTimeout: 'innodb_lock_wait_timeout=1',
    settings: [
      'autocommit=0',
      'completion_type=1',
      'sql_safe_updates=1',
      "time_zone='-11:00'",
      'sql_select_limit=3',
    ],
  },
  postgres: {
    lockTimeout: 'lock_timeout=500',
    settings: [
      'default_transaction_isolation=serializable',
      'timezone=Pacific/Midway',
      'bytea_output=escape',
    ],
  },
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)
  const { lockTimeout, settings } = SETTINGS[kind.name]

  async function namesIn(pool: UserPool, table: string): Promise<Record<string, number>> {
    const rows = await pool.run(`SELECT ${kind.quote('key')} AS name FROM ${table}`)
    const names = rows.map(({ name }) => String(name).replace(/:.*/, ''))
    return Object.fromEntries(
      [...new Set(names)].sort().map((name) => [name, names.filter((each) => each === name).length]),
    )
  }

  test('expired rows are removed, the oldest first and up to the limit, and no others', async () => {
    const { pool, table } = await database.makeStore()
    const nowS = Math.floor(Date.now() / 1000)
    await insertRows(kind, pool, table, { name: 'first', count: 700, expiresAtS: 1 })
    await insertRows(kind, pool, table, { name: 'second', count: 510, expiresAtS: nowS - 2 })
    await insertRows(kind, pool, table, { name: 'soon', count: 300, expiresAtS: nowS + 60 })
    await insertRows(kind, pool, table, { name: 'never', count: 200, expiresAtS: 253_402_300_799 })
    expect(await pool.removeExpired(table, MOST)).toBe(500)
    expect(await namesIn(pool, table)).toEqual({ first: 200, never: 200, second: 510, soon: 300 }) // the oldest first
    expect(await pool.removeExpired(table, MOST)).toBe(500)
    expect(await pool.removeExpired(table, MOST)).toBe(210)
    expect(await pool.removeExpired(table, MOST)).toBe(0)
    expect(await namesIn(pool, table)).toEqual({ never: 200, soon: 300 })
  })

  test.each(settings)('expired rows are removed on connections with %s', async (setting) => {
    const { pool, table } = await database.makeStore({ settings: [setting] })
    const plain = database.open()
    await insertRows(kind, plain, table, { name: 'old', count: 120, expiresAtS: 1 })
    await insertRows(kind, plain, table, { name: 'living', count: 20, expiresAtS: LATER_S })
    expect(await pool.removeExpired(table, 100)).toBe(100)
    expect(await namesIn(plain, table)).toEqual({ living: 20, old: 20 })
    expect(await pool.removeExpired(table, 100)).toBe(20)
    expect(await namesIn(plain, table)).toEqual({ living: 20 })
    await plain.end()
  })

  test('processes that purge at the same time do not fail, and remove everything', async () => {
    const { pool, table } = await database.makeStore()
    await insertRows(kind, pool, table, { name: 'old', count: 800, expiresAtS: 1 })
    const purge = async () => {
      for (let empty = 0; empty < 3; ) {
        if ((await pool.removeExpired(table, 40)) > 0) empty = 0
        else empty++
        await pause(1)
      }
    }
    await Promise.all([purge(), purge(), purge(), purge()])
    expect(await namesIn(pool, table)).toEqual({})
  })

  test('a purge that fails on a locked row does not prevent the next one of another process', async () => {
    const { pool, table } = await database.makeStore({ settings: [lockTimeout] })
    await insertRows(kind, pool, table, { name: 'old', count: 20, expiresAtS: 1 })
    const holder = await database.open({ size: 1 }).take()
    await holder.run('START TRANSACTION')
    await holder.run(`SELECT 1 FROM ${table} WHERE ${kind.quote('key')} = 'old:7' FOR UPDATE`)
    await pool.removeExpired(table, MOST).catch(() => undefined)
    await holder.run('ROLLBACK')
    holder.release()
    await database.open().removeExpired(table, MOST)
    expect(await namesIn(pool, table)).toEqual({})
  })

  test('rows that are charged again while they are purged stay, and no charge fails', async () => {
    const { store, pool, table } = await database.makeStore()
    const keys = Array.from({ length: 800 }, (_, i) => `old:${i}`)
    await insertRows(kind, pool, table, { name: 'old', count: keys.length, expiresAtS: 1 })
    await insertRows(kind, pool, table, { name: 'gone', count: 800, expiresAtS: 2 }) // so that the purge goes on
    expect(await pool.removeExpired(table, 20)).toBeGreaterThan(0)
    let isOver = false
    const purging = (async () => {
      for (; !isOver; await pause(1)) await pool.removeExpired(table, 20)
    })()
    for (let round = 0; round < 3; round++) {
      const charges = keys.map((_key, i) => chargeStore(store, [[part(keys.at(-i) ?? '', policy)]]))
      await Promise.all(charges)
    }
    isOver = true
    await purging
    expect(await remainingOf(store, policy, keys)).toEqual(keys.map(() => 97))
  })
})
