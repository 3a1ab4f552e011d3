import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type PgbouncerOptions, startPgbouncer } from '../../support/servers/pgbouncer.js'
import type { Server } from '../../support/servers/server.js'
import { chargeStore } from '../../support/store-calls.js'
import type { UserPool } from '../sql/database-kind.js'
import { expectKeptApart, expectWholeFigures } from '../sql/kept-apart.js'
import { postgres } from '../sql/postgres-kind.js'
import { setUpDatabase } from '../sql/set-up-database.js'

const POOLS = 4
const CALLERS = 200
const EACH = 2
const LIMIT = 100

const poolers: Server[] = []
const pools: UserPool[] = []

/** Pools of connections of a PgBouncer, as several processes have them. */
async function openBehind(options: PgbouncerOptions, count: number): Promise<readonly UserPool[]> {
  const pooler = await startPgbouncer(database.server, options)
  poolers.push(pooler)
  const opened = Array.from({ length: count }, () => postgres.open(pooler.url))
  pools.push(...opened)
  return opened
}

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await Promise.all(poolers.map((pooler) => pooler.stop()))
})

const database = setUpDatabase(postgres) // ends after those before it

describe('behind a PgBouncer that pools transactions', () => {
  let ours: readonly UserPool[]

  beforeAll(async () => {
    ours = await openBehind({ poolMode: 'transaction', poolSize: 3 }, POOLS)
  }, INSTALL_TIMEOUT_MS)

  test.each(LONG_POLICIES)(
    'two hundred callers take exactly the limit, in single charges and in batches: %s',
    async (name, policyOf) => {
      const table = `behind_${name.toLowerCase()}`
      const stores = ours.map((pool) => pool.makeStore({ table }))
      await Promise.all(stores.map((store) => store.prepare()))
      const policy = policyOf(LIMIT)
      const together = [part('both', policy), part('wide', policyOf(10_000))]
      let alone = 0
      let allowed = 0
      const call = async (caller: number): Promise<void> => {
        const store = stores[caller % POOLS] as (typeof stores)[number]
        for (let i = 0; i < EACH; i++) {
          const one = await chargeStore(store, [[part('one', policy)]])
          const both = await chargeStore(store, [together])
          alone += allowedCount(one)
          allowed += allowedCount(both)
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
      expect({ alone, allowed }).toEqual({ alone: LIMIT, allowed: LIMIT })
      const [store] = stores as [(typeof stores)[number]]
      expect(await remainingOf(store, policy, ['one', 'both'])).toEqual([0, 0])
      expect(await remainingOf(store, policyOf(10_000), ['wide'])).toEqual([10_000 - LIMIT])
    },
  )

  test('charges in a row are each counted once, whichever connection they get', async () => {
    const stores = ours.map((pool) => pool.makeStore({ table: 'one_by_one' }))
    await Promise.all(stores.map((store) => store.prepare()))
    for (const [name, policyOf] of LONG_POLICIES) {
      let allowed = 0
      for (let i = 0; i < 20; i++) {
        for (const store of stores) {
          allowed += allowedCount(await chargeStore(store, [[part(name, policyOf(LIMIT / 2))]]))
        }
      }
      expect([name, allowed]).toEqual([name, LIMIT / 2])
    }
  })

  test('keys and figures are the same as without it', async () => {
    const [first, second] = ours.map((pool) => pool.makeStore({ table: 'figures' }))
    await first?.prepare()
    await expectKeptApart(first as NonNullable<typeof first>, second)
    await expectWholeFigures(first as NonNullable<typeof first>)
  })
})

test('behind a PgBouncer that pools statements, the first use rejects with the fix and takes nothing', async () => {
  const [pool] = (await openBehind({ poolMode: 'statement' }, 1)) as [UserPool]
  const table = await database.makeTable()
  const store = pool.makeStore({ table })
  const [, policyOf] = LONG_POLICIES[0] as (typeof LONG_POLICIES)[number]
  const both = [part('a', policyOf(9)), part('b', policyOf(9)), part('a', policyOf(9))]
  for (const use of [() => store.prepare(), () => chargeStore(store, [both])]) {
    await expect(use()).rejects.toThrow(/Set PgBouncer's pool_mode to transaction or session/)
  }
  const direct = database.open().makeStore({ table })
  expect(await remainingOf(direct, policyOf(9), ['a', 'b'])).toEqual([9, 9])
})
