import { consecutive, StoreError } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import type { MaybePromise } from 'headgate/store'
import { keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const LIMIT = 100
const policy = consecutive({ limit: LIMIT })
const pair = [part('a', policy), part('b', policy)]

/** Each way in which a store writes. */
const WRITES: readonly (readonly [string, (store: SqlStore) => MaybePromise<unknown>])[] = [
  ['a single charge', (store) => chargeStore(store, [[part('a', policy)]])],
  ['a single charge of a new key', (store) => chargeStore(store, [[part('new', policy)]])],
  ['a charge of two parts', (store) => chargeStore(store, [pair])],
  ['a refund', (store) => refundStore(store, [{ ...part('a', policy), takenAtMs: Date.now() }])],
  ['a forget', (store) => forgetStore(store, keyedPolicies(policy, 'a', 'b'))],
]

beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0.99)) // no purge takes the connection
afterEach(() => jest.restoreAllMocks())

describe.each(DATABASES)('on %s, a connection released in the middle of a transaction', (_name, kind) => {
  const database = setUpDatabase(kind)

  test.each(WRITES)('fails %s, and neither is committed', async (_title, write) => {
    const { store, pool, table } = await database.makeStore({ size: 1 })
    const others = database.open()
    await chargeStore(store, [pair])
    await others.run('CREATE TABLE IF NOT EXISTS orders (id int)')
    const session = await pool.take()
    await session.run('START TRANSACTION')
    await session.run('INSERT INTO orders VALUES (1)')
    session.release()
    const error = await Promise.resolve(write(store)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreError)
    expect((error as StoreError).message).toMatch(
      /released to the pool in the middle of a transaction\. Call release\(\) after COMMIT or ROLLBACK/,
    )
    const keys = ['a', 'b', 'new']
    expect(await remainingOf(others.makeStore({ table }), policy, keys)).toEqual([
      LIMIT - 1,
      LIMIT - 1,
      LIMIT,
    ])
    expect(await pool.run('SELECT * FROM orders')).toEqual([])
    await write(store)
  })
})
