import { consecutive, type Policy, StoreError } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import type { MaybePromise } from 'headgate/store'
import { part } from '../../../src/testing/conformance/store-calls.js'
import { testTogether } from '../../support/servers/together.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import type { Kind, UserPool } from './database-kind.js'
import { DATABASES, insertRows, setUpDatabase } from './set-up-database.js'

const POOL = 4
const policy = consecutive({ limit: 100 })

interface Sets {
  /** What the user has set. */
  readonly settings: readonly string[]
  /** Asks a session for it, and what must come. */
  readonly ask: string
  readonly answer: object
}

const SETS: Readonly<Record<Kind['name'], Sets>> = {
  mysql: {
    settings: ["tx_isolation='REPEATABLE-READ'", "sql_mode='ANSI_QUOTES'", 'innodb_lock_wait_timeout=7'],
    ask: 'SELECT @@tx_isolation AS level, @@sql_mode AS mode, @@innodb_lock_wait_timeout AS timeout, @@autocommit AS auto',
    answer: { level: 'REPEATABLE-READ', mode: 'ANSI_QUOTES', timeout: 7, auto: 1 },
  },
  postgres: {
    settings: ['default_transaction_isolation=repeatable\\ read', 'lock_timeout=7000'],
    ask: "SELECT current_setting('default_transaction_isolation') AS level, current_setting('lock_timeout') AS timeout",
    answer: { level: 'repeatable read', timeout: '7s' },
  },
}

type Use = (
  store: SqlStore,
  purge: (limit: number) => Promise<number>,
  missing: SqlStore,
) => MaybePromise<unknown>

const pair = [part('a', policy), part('b', policy)]
const broken: Policy = {
  ...policy,
  take() {
    throw new Error('a policy that breaks')
  },
}

/** All that a store does with a connection, whether it succeeds or not. */
const USES: readonly (readonly [string, Use])[] = [
  ['a single charge', (store) => chargeStore(store, [[part('a', policy)]])],
  ['a single charge that is denied', (store) => chargeStore(store, [[part('full', policy)]])],
  [
    'charges in one batch',
    (store) =>
      chargeStore(
        store,
        pair.map((each) => [each]),
      ),
  ],
  ['a charge of two parts', (store) => chargeStore(store, [pair])],
  ['a refund', (store) => refundStore(store, [{ ...part('a', policy), takenAtMs: Date.now() }])],
  ['a refund of an unknown key', (store) => refundStore(store, [{ ...part('no', policy), takenAtMs: 0 }])],
  ['forgetting', (store) => forgetStore(store, pair)],
  ['a charge of a policy that breaks', (store) => fails(chargeStore(store, [[part('a', broken)]]))],
  ['charges of a policy that breaks', (store) => fails(chargeStore(store, [pair, [part('a', broken)]]))],
  ['a charge without a table', (_, __, missing) => fails(chargeStore(missing, [[part('a', policy)]]))],
  ['charges without a table', (_, __, missing) => fails(chargeStore(missing, [pair]))],
  [
    'a refund without a table',
    (_, __, missing) => fails(refundStore(missing, [{ ...part('a', policy), takenAtMs: 0 }])),
  ],
  ['a purge', (_, purge) => purge(10)],
  [
    'a purge that finds nothing',
    async (_, purge) => {
      while ((await purge(1000)) > 0);
      await purge(1000)
    },
  ],
  ['preparing', (store) => store.prepare()],
]

async function fails(call: MaybePromise<unknown>): Promise<void> {
  await expect(call).rejects.toBeInstanceOf(StoreError)
}

describe.each(DATABASES)('on %s, connections return to the pool as they were', (_name, kind) => {
  const database = setUpDatabase(kind)
  const { settings, ask, answer } = SETS[kind.name]
  let others: UserPool
  let rows = 0

  beforeAll(() => {
    others = database.open({ size: 1 })
  })

  /**
   * Every connection is outside of transactions, its own ones are of the level that was set, and so is all
   * else.
   */
  async function expectAsBefore(pool: UserPool, table: string): Promise<void> {
    const sessions = await Promise.all(Array.from({ length: POOL }, () => pool.take()))
    const count = `SELECT count(*) AS count FROM ${table}`
    const counts: unknown[] = []
    for (const each of sessions) {
      await each.run('START TRANSACTION')
      counts.push(await each.run(count))
    }
    await others.run(expiredRow(kind, table, `new:${++rows}`))
    for (const [i, each] of sessions.entries()) {
      expect(await each.run(count)).toEqual(counts[i]) // at READ COMMITTED there would be one more
      await each.run('ROLLBACK')
      expect(await each.run(count)).not.toEqual(counts[i])
      expect(await each.run(ask)).toEqual([answer])
    }
    for (const each of sessions) each.release()
  }

  async function expectUsed(use: Use): Promise<void> {
    const { store, pool, table } = await database.makeStore({ size: POOL, settings })
    await chargeStore(store, [[part('full', policy, policy.limit)], [part('a', policy, 3)]])
    const stores = Array.from({ length: POOL }, () => pool.makeStore({ table }))
    const missing = pool.makeStore({ table: 'missing' })
    for (let round = 0; round < 2; round++) {
      await insertRows(kind, pool, table, { name: `old:${round}`, count: 20, expiresAtS: 1 })
      await Promise.all(stores.map((each) => use(each, (limit) => pool.removeExpired(table, limit), missing)))
      await expectAsBefore(pool, table)
    }
    await pool.end()
  }

  testTogether(USES.map(([title, use]) => [`after ${title}`, () => expectUsed(use)]))
})

function expiredRow({ literal }: Kind, table: string, key: string): string {
  return `INSERT INTO ${table} VALUES ('${key}', ${literal([0])}, 1)`
}
