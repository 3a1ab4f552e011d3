import { setTimeout as pause } from 'node:timers/promises'
import { type Policy, tokenBucket } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Kind } from './database-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const STORES = 6
const ROUNDS = 6
/** A third of what is charged. */
const LIMIT = 12
const [[, bucketOf]] = LONG_POLICIES as [(typeof LONG_POLICIES)[number]]

/** The levels of isolation that a user may have set for all connections. */
const LEVELS: Readonly<Record<Kind['name'], readonly string[]>> = {
  mysql: ['READ-UNCOMMITTED', 'READ-COMMITTED', 'REPEATABLE-READ', 'SERIALIZABLE'].map(
    (level) => `tx_isolation='${level}'`,
  ),
  postgres: ['read\\ committed', 'repeatable\\ read', 'serializable'].map(
    (level) => `default_transaction_isolation=${level}`,
  ),
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  /** Has each store charge in a row, as many processes with little to do: each charge is a single one. */
  async function chargeAlone(
    stores: readonly SqlStore[],
    keys: readonly string[],
    policy: Policy,
  ): Promise<number> {
    const parts = keys.map((key) => part(key, policy))
    const counts = stores.map(async (store, i) => {
      let allowed = 0
      for (let round = 0; round < ROUNDS; round++)
        allowed += allowedCount(await chargeStore(store, [i % 2 === 0 ? parts : parts.toReversed()]))
      return allowed
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count)
  }

  test.each(LEVELS[kind.name])(
    'single charges of many processes are exact, and none fails: %s',
    async (level) => {
      const { pool, table } = await database.makeStore({ settings: [level] })
      const stores = Array.from({ length: STORES }, () => pool.makeStore({ table }))
      for (const [name, policyOf] of LONG_POLICIES) {
        for (const keys of [[name], [`${name} a`, `${name} b`]]) {
          expect(await chargeAlone(stores, keys, policyOf(LIMIT))).toBe(LIMIT)
          expect(await remainingOf(stores[0] as SqlStore, policyOf(LIMIT), keys)).toEqual(keys.map(() => 0))
        }
      }
      await pool.end()
    },
  )

  test('a single charge at a faster rate does not let a row expire earlier', async () => {
    const { store, pool, table } = await database.makeStore()
    const expiryAfter = async (every: string) => {
      const policy = tokenBucket({ capacity: 50, refill: 50, every })
      expect(await chargeStore(store, [[part('key', policy)]])).toMatchObject([{ allowed: true }])
      return Number((await pool.run(`SELECT expires_at FROM ${table}`))[0]?.expires_at)
    }
    const expiresAtS = await expiryAfter('1000d')
    expect(await expiryAfter('1h')).toBe(expiresAtS)
  })

  test('of charges of two keys that meet on one, each takes both or none', async () => {
    const { pool, table } = await database.makeStore()
    const stores = Array.from({ length: STORES }, () => pool.makeStore({ table }))
    const charged = stores.map(async (store, i) => {
      const parts = [part(`own:${i}`, bucketOf(100)), part('shared', bucketOf(LIMIT))]
      let allowed = 0
      for (let round = 0; round < ROUNDS; round++)
        allowed += allowedCount(await chargeStore(store, [i % 2 === 0 ? parts : parts.toReversed()]))
      return allowed
    })
    const counts = await Promise.all(charged)
    expect(counts.reduce((sum, count) => sum + count)).toBe(LIMIT)
    const keys = stores.map((_, i) => `own:${i}`)
    expect(await remainingOf(stores[0] as SqlStore, bucketOf(100), keys)).toEqual(
      counts.map((allowed) => 100 - allowed),
    )
    await pool.end()
  })

  test('single charges of a key whose first write is rolled back by another process are each counted once', async () => {
    const { pool, table } = await database.makeStore()
    const stores = Array.from({ length: STORES }, () => pool.makeStore({ table }))
    for (let round = 0; round < 2; round++) {
      await pool.run(`DELETE FROM ${table}`)
      const other = await pool.take()
      await other.run('START TRANSACTION')
      await other.run(`INSERT INTO ${table} VALUES ('fought for', ${kind.literal([0])}, 1)`)
      const waiting = Promise.all(
        stores.map((store) => chargeStore(store, [[part('fought for', bucketOf(100))]])),
      )
      waiting.catch(() => undefined) // it is awaited later
      await pause(100)
      await other.run('ROLLBACK')
      other.release()
      expect((await waiting).map(allowedCount)).toEqual(stores.map(() => 1))
      expect(await remainingOf(stores[0] as SqlStore, bucketOf(100), ['fought for'])).toEqual([100 - STORES])
    }
  })
})
