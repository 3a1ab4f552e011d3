import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { UserPool } from '../sql/database-kind.js'
import { postgres } from '../sql/postgres-kind.js'
import { setUpDatabase } from '../sql/set-up-database.js'

const LIMIT = 6
const PREPARED = 'SELECT name FROM pg_prepared_statements ORDER BY name'

const database = setUpDatabase(postgres)
let table: string

beforeAll(async () => {
  table = await database.makeTable()
})

/** A store over a pool of one connection; the tests share a table, with keys of their own. */
function openStore() {
  const pool = database.open({ size: 1 })
  return { pool, store: pool.makeStore({ table }) }
}

describe.each(['DISCARD ALL', 'DEALLOCATE ALL'])('after %s of the application on the connection', (sql) => {
  test.each(LONG_POLICIES)('single charges are each counted once: %s', async (title, policyOf) => {
    const { store, pool } = openStore()
    const policy = policyOf(LIMIT)
    const key = `charged after ${sql} with a ${title}`
    const charge = async () => allowedCount(await chargeStore(store, [[part(key, policy)]]))
    expect(await charge()).toBe(1)
    await pool.run(sql)
    for (const left of [4, 3, 2, 1, 0]) {
      expect(await charge()).toBe(1)
      expect(await remainingOf(store, policy, [key])).toEqual([left])
    }
    for (let i = 0; i < 3; i++) expect(await charge()).toBe(0)
    await pool.end()
  })

  test.each(LONG_POLICIES)('peeks and denials still work: %s', async (title, policyOf) => {
    const { store, pool } = openStore()
    const policy = policyOf(LIMIT)
    const key = `full before ${sql} with a ${title}`
    await chargeStore(store, [[part(key, policy, LIMIT)]])
    expect(await remainingOf(store, policy, [key])).toEqual([0])
    for (let i = 0; i < 3; i++) {
      await pool.run(sql)
      expect(await remainingOf(store, policy, [key])).toEqual([0])
      expect(allowedCount(await chargeStore(store, [[part(key, policy)]]))).toBe(0)
    }
    await pool.end()
  })

  test('however often it runs, the limit holds, and later statements are unnamed', async () => {
    const { store, pool } = openStore()
    const [, policyOf] = LONG_POLICIES[0] as (typeof LONG_POLICIES)[number]
    const policy = policyOf(LIMIT)
    const [key, another] = [`often after ${sql}`, `beside ${sql}`]
    await chargeStore(store, [[part(another, policy)]])
    expect(await namesOf(pool)).toHaveLength(1)
    let allowed = 0
    for (let i = 0; i < 3 * LIMIT; i++) {
      await pool.run(sql)
      allowed += allowedCount(await chargeStore(store, [[part(key, policy)]]))
      expect(await namesOf(pool)).toEqual([])
    }
    expect(allowed).toBe(LIMIT)
    expect(await remainingOf(pool.makeStore({ table }), policy, [key, another])).toEqual([0, LIMIT - 1])
    await pool.end()
  })
})

test.each([
  ['the statement of other charges', 1],
  ['the statement that reads denied charges', 0],
])('a charge is counted once if %s is lost after its own', async (what, otherUsed) => {
  const { store, pool } = openStore()
  const [[, first], [, second]] = [LONG_POLICIES[0], LONG_POLICIES[2]] as [
    (typeof LONG_POLICIES)[0],
    (typeof LONG_POLICIES)[0],
  ]
  const keys = [`a, beside ${what}`, `b, beside ${what}`] as const
  const policies = [first(LIMIT), second(LIMIT)] as const
  await chargeStore(store, [[part(keys[0], policies[0])]])
  const before = await namesOf(pool)
  await chargeStore(store, [[part(keys[1], policies[1], otherUsed)]]) // a cost of 0 is only read
  const names = (await namesOf(pool)).filter((name) => !before.includes(name))
  expect(names).toHaveLength(1)
  await pool.run(`DEALLOCATE "${names[0]}"`)
  const charges = [[part(keys[0], policies[0])], [part(keys[1], policies[1], otherUsed)]]
  expect(allowedCount(await chargeStore(store, charges))).toBe(2)
  expect(await remainingOf(store, policies[0], [keys[0]])).toEqual([LIMIT - 2])
  expect(await remainingOf(store, policies[1], [keys[1]])).toEqual([LIMIT - 2 * otherUsed])
  await pool.end()
})

describe('on a connection that already has a statement of that name, as behind a pooler', () => {
  test.each(LONG_POLICIES)('single charges are each counted once: %s', async (title, policyOf) => {
    const { store: first, pool } = openStore()
    const [key, other] = [`pooled with a ${title}`, `beside it with a ${title}`]
    const policy = policyOf(LIMIT)
    await chargeStore(first, [[part(key, policy, 0)], [part(other, policy)]])
    await chargeStore(first, [[part(key, policy, 0)]])
    await chargeStore(first, [[part(key, policy)]])
    const names = await namesOf(pool)
    expect(names.length).toBeGreaterThan(1)
    const later = database.open({ size: 1 })
    for (const name of names) await later.run(`PREPARE "${name}" AS SELECT 1`)
    const store = later.makeStore({ table })
    let allowed = 1
    for (let i = 0; i < 2 * LIMIT; i++)
      allowed += allowedCount(await chargeStore(store, [[part(key, policy)]]))
    expect(allowed).toBe(LIMIT)
    expect(await remainingOf(store, policy, [key])).toEqual([0])
    await pool.end()
    await later.end()
  })
})

async function namesOf(pool: UserPool): Promise<string[]> {
  return (await pool.run(PREPARED)).map(({ name }) => String(name))
}
