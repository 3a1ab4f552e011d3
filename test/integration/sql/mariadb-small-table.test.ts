import { consecutive } from 'headgate'
import { allowedCount, keyedPolicies, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore } from '../../support/store-calls.js'
import { mariadb } from './mariadb-kind.js'
import { insertRows, setUpDatabase } from './set-up-database.js'

const LATER_S = 4_000_000_000
const MOST = 500
const policy = consecutive({ limit: 10 })

/** Who waits for somebody else's lock waits for longer. */
const SOON_MS = 10_000 // a wait for a lock takes 50 seconds

/** Rows lie in the order of their names: expired ones before, between and behind living ones. */
const LIVING = ['a', 'k', 'm', 'z']
const EXPIRED = ['b', 'y']
const EACH = 50

/** Living rows that somebody else may hold. */
const ALL_HELD = ['a:0', 'k:33', 'm:1', 'z:9']
const HELD = [['a:0'], ['m:7'], ['z:9'], ALL_HELD].map((keys) => [keys] as const)

describe('in a small table, which MariaDB prefers to scan', () => {
  const database = setUpDatabase(mariadb)

  async function makeSmallTable() {
    const { store, pool, table } = await database.makeStore()
    const rows = [
      ...LIVING.map((name) => ({ name, count: EACH, expiresAtS: LATER_S })),
      ...EXPIRED.map((name) => ({ name, count: EACH, expiresAtS: 1 })),
    ]
    for (const each of rows) await insertRows(mariadb, pool, table, each)
    await pool.run(`ANALYZE TABLE ${table}`)
    return { store, pool, table }
  }

  /** Does something while somebody else holds these rows, which must not take long. */
  async function whileHeld<T>(table: string, keys: readonly string[], run: () => Promise<T>): Promise<T> {
    const session = await database.open({ size: 1, settings: ["tx_isolation='READ-COMMITTED'"] }).take()
    try {
      await session.run('START TRANSACTION')
      const names = keys.map((key) => `'${key}'`)
      const locked = `SELECT 1 FROM ${table} WHERE \`key\` IN (${names}) ORDER BY \`key\` LIMIT 10 FOR UPDATE`
      expect(await session.run(locked)).toHaveLength(keys.length)
      const fromMs = performance.now()
      const result = await run()
      expect(performance.now() - fromMs).toBeLessThan(SOON_MS)
      return result
    } finally {
      await session.run('ROLLBACK')
      session.release()
    }
  }

  test.each(HELD)('a purge does not wait for live rows that others have locked: %j', async (keys) => {
    const { pool, table } = await makeSmallTable()
    expect(await whileHeld(table, keys, () => pool.removeExpired(table, MOST))).toBe(EXPIRED.length * EACH)
    expect(await pool.run(`SELECT \`key\` FROM ${table}`)).toHaveLength(LIVING.length * EACH)
    expect(await pool.removeExpired(table, MOST)).toBe(0)
  })

  test('a purge that reaches its limit does not wait for them either', async () => {
    const { pool, table } = await makeSmallTable()
    expect(await whileHeld(table, ALL_HELD, () => pool.removeExpired(table, 60))).toBe(60)
    expect(await whileHeld(table, ALL_HELD, () => pool.removeExpired(table, 60))).toBe(40)
  })

  test('charges and forgetting do not wait for rows that they do not need', async () => {
    const { store, table } = await makeSmallTable()
    const keys = [...LIVING, ...EXPIRED].flatMap((name) => [10, 11, 12, 13, 14].map((i) => `${name}:${i}`))
    const charges = keys.map((key) => [part(key, policy)])
    const verdicts = await whileHeld(table, ALL_HELD, async () => {
      await forgetStore(store, keyedPolicies(policy, ...keys))
      return chargeStore(store, charges)
    })
    expect(allowedCount(verdicts)).toBe(keys.length)
  })
})
