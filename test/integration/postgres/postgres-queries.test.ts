import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { postgresStore } from 'headgate/postgres'
import { Pool, type PoolClient } from 'pg'
import type { PostgresConnection, PostgresPool } from '../../../src/stores/sql/postgres/client.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { part } from '../../../src/testing/conformance/store-calls.js'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { chargeStore } from '../../support/store-calls.js'

let server: SqlServer
let pool: Pool

beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool({ connectionString: server.url })
  pool.on('error', () => {}) // it ends while the server does
  await postgresStore(pool).prepare()
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await pool?.end()
  await server?.stop()
})

/** How many queries a store sends for one charge of some keys after another. */
async function queriesFor(
  policy: Policy,
  costs: readonly number[],
  also: readonly Parts[] = [],
  keys: readonly string[] = ['key'],
) {
  await pool.query('DELETE FROM headgate')
  let queries = 0
  const counting: PostgresPool & Pick<Pool, 'query'> = {
    query: pool.query.bind(pool),
    async connect() {
      const client: PoolClient & PostgresConnection = await pool.connect()
      return {
        getTransactionStatus: () => client.getTransactionStatus?.() ?? null,
        query(query) {
          queries++
          return client.query(query)
        },
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      }
    },
  }
  const store = postgresStore(counting)
  const counts: number[] = []
  for (const cost of costs) {
    queries = 0
    await chargeStore(store, [keys.map((key) => part(key, policy, cost)), ...also])
    counts.push(queries)
  }
  return counts
}

test('a charge that is allowed is one query, and one that is denied, or a peek, at most two', async () => {
  for (const policy of [
    tokenBucket({ capacity: 5, refill: 5, every: '1d' }),
    fixedWindow({ limit: 5, window: '1d' }),
    consecutive({ limit: 5 }),
    slidingWindow({ limit: 5, window: '1d' }),
  ]) {
    expect(await queriesFor(policy, [2, 1, 3, 2, 1])).toEqual([1, 1, 2, 1, 2])
    expect(await queriesFor(policy, [0, 6])).toEqual([1, 1])
  }
})

test('charges of one policy and cost that are allowed are one query, and those that are denied one more', async () => {
  const policy = tokenBucket({ capacity: 3, refill: 3, every: '1d' })
  const also = Array.from({ length: 10 }, (_, i) => [part(`other:${i}`, policy)])
  expect(await queriesFor(policy, [1, 1, 1, 1], also)).toEqual([1, 1, 1, 2])
})

test('charges of several keys that are allowed are one query, and those that are denied one more', async () => {
  const policy = tokenBucket({ capacity: 3, refill: 3, every: '1d' })
  const also = Array.from({ length: 10 }, (_, i) => [part(`other:${i}`, policy), part(`third:${i}`, policy)])
  expect(await queriesFor(policy, [1, 2, 1], [], ['key', 'second', 'third'])).toEqual([1, 1, 2])
  expect(await queriesFor(policy, [1, 1, 1, 1], also, ['key', 'second'])).toEqual([1, 1, 1, 2])
})

test('a charge that counts twice on one key takes a transaction', async () => {
  const policy = fixedWindow({ limit: 5, window: '1d' })
  expect(await queriesFor(policy, [1, 1], [], ['key', 'key'])).toEqual([2, 2])
})

test('a batch of charges of several costs is at most two queries', async () => {
  const policy = slidingWindow({ limit: 5, window: '1d' })
  const also = Array.from({ length: 10 }, (_, i) => [part(`other:${i}`, policy)])
  expect(await queriesFor(policy, [2, 3, 1], also)).toEqual([2, 2, 2])
})

test('a connection keeps few statements, however many policies and costs there are', async () => {
  await pool.query('DELETE FROM headgate')
  const narrow = new Pool({ connectionString: server.url, max: 1 })
  const store = postgresStore(narrow)
  for (let limit = 1; limit <= 40; limit++) {
    const charge = [part(`of ${limit}`, fixedWindow({ limit, window: '1d' }), limit)]
    expect(await chargeStore(store, [charge])).toMatchObject([{ allowed: true, parts: [{ remaining: 0 }] }])
    expect(await chargeStore(store, [charge])).toMatchObject([{ allowed: false }])
  }
  const { rows } = await narrow.query('SELECT name FROM pg_prepared_statements')
  await narrow.end()
  expect(rows.length).toBeLessThan(20)
})
