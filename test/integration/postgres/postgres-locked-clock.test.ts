import { fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'
import { postgres } from '../sql/postgres-kind.js'
import { setUpDatabase } from '../sql/set-up-database.js'

const database = setUpDatabase(postgres)

/** Of each kind that a single statement takes, one that gives units back while the row is locked. */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 100, refill: 1, every: '10ms' }),
  fixedWindow({ limit: 100, window: '50ms' }),
  fixedWindow({ limit: 100, window: '50ms', startsAt: 'first-request' }),
  slidingWindow({ limit: 100, window: '50ms', slices: 5 }),
]

test.each(POLICIES.flatMap((policy) => [1, 2].map((limits) => [limits, policy.spec.kind, policy] as const)))(
  'a single statement for %i limits that waits for a locked row of a %s decides when it has the lock',
  async (limits, _kind, policy) => {
    const { pool, table, store } = await database.makeStore()
    const parts = ['key', 'other'].slice(0, limits).map((key) => part(key, policy, 40))
    await chargeOne(store, part('key', policy, 50))
    const session = await pool.take()
    await session.run('BEGIN')
    await session.run(`SELECT 1 FROM ${table} WHERE key = 'key' FOR UPDATE`)
    const waiting = Promise.resolve(chargeStore(store, [parts]))
    await until('the charge waits for the row', async () => {
      const waits = await database.server.query('SELECT 1 FROM pg_locks WHERE NOT granted')
      return waits.length > 0
    })
    await session.run('SELECT pg_sleep(0.6)')
    const [row] = await session.run('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')
    await session.run('COMMIT')
    session.release()
    const [verdict] = await waiting
    expect(verdict?.allowed).toBe(true)
    expect(verdict?.atMs).toBeGreaterThanOrEqual(Number(row?.ms))
    if (policy.spec.kind === 'token-bucket') expect(verdict?.parts[0]?.remaining).toBeGreaterThanOrEqual(50)
  },
)
