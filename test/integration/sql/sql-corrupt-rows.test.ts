import { type StoreError, slidingWindow } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import { LONG, LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  chargeOne,
  keyedPolicies,
  type Parts,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore } from '../../support/store-calls.js'
import type { Kind, UserPool } from './database-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const LIMIT = 5
const anyPolicy = slidingWindow({ limit: LIMIT, window: LONG })

/** States that no policy writes, as SQL literals. */
const CORRUPT_STATES: Readonly<Record<Kind['name'], readonly string[]>> = {
  mysql: ["x'010203'", "x''", "x'0000000000000000FF'", "x'000000000000F87F'"],
  postgres: ["'{}'", "'{NULL}'", "'{NaN}'", "'{{1,2}}'"],
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  async function spoil(pool: UserPool, table: string, key: string, state: string): Promise<void> {
    await pool.run(`INSERT INTO ${table} VALUES ('${key}', ${state}, 4000000000)`)
  }

  async function expectCorruptRow(store: SqlStore, charges: readonly Parts[]): Promise<void> {
    await expect(chargeStore(store, charges)).rejects.toMatchObject({
      message: `${kind.name}: the key bad holds a value that is not a state of its policy. Give the limiter another prefix.`,
      replied: true,
    })
  }

  describe.each(CORRUPT_STATES[kind.name])('a row that holds %s', (state) => {
    let store: SqlStore
    let pool: UserPool
    let table: string

    beforeAll(async () => {
      const made = await database.makeStore()
      store = made.store
      pool = made.pool
      table = made.table
    })

    beforeEach(async () => {
      await pool.run(`DELETE FROM ${table}`)
      await spoil(pool, table, 'bad', state)
    })

    describe.each(LONG_POLICIES)('of %s', (_policy, policyOf) => {
      const policy = policyOf(LIMIT)

      test('fails every single charge, and a peek', async () => {
        for (const cost of [1, LIMIT, 0, 1]) await expectCorruptRow(store, [[part('bad', policy, cost)]])
      })

      test('fails the charges of its key, and no others of the batch', async () => {
        const keys = ['a', 'bad', 'c', 'bad', 'd']
        const settled = await Promise.allSettled(keys.map((key) => chargeOne(store, part(key, policy))))
        expect(settled.map(({ status }) => status)).toEqual(
          keys.map((key) => (key === 'bad' ? 'rejected' : 'fulfilled')),
        )
        for (const result of settled) {
          if (result.status === 'fulfilled') expect(result.value.allowed).toBe(true)
          else expect((result.reason as StoreError).message).toContain('a value that is not a state')
        }
        expect(await remainingOf(store, policy, ['a', 'c', 'd'])).toEqual([4, 4, 4])
      })
    })

    test('fails a charge of several parts as a whole, and takes nothing of the others', async () => {
      await expectCorruptRow(store, [[part('a', anyPolicy), part('bad', anyPolicy)]])
      await expectCorruptRow(store, [[part('bad', anyPolicy), part('a', anyPolicy)]])
      expect(await remainingOf(store, anyPolicy, ['a'])).toEqual([LIMIT])
    })

    test('is gone when its key is forgotten', async () => {
      await forgetStore(store, keyedPolicies(anyPolicy, 'bad'))
      expect(allowedCount(await chargeStore(store, [[part('bad', anyPolicy)]]))).toBe(1)
      expect(await remainingOf(store, anyPolicy, ['bad'])).toEqual([LIMIT - 1])
    })
  })
})
