import { consecutive, StoreError } from 'headgate'
import { postgresStore, type SqlStore } from 'headgate/postgres'
import type { MaybePromise } from 'headgate/store'
import { Pool } from 'pg'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Session, UserPool } from '../sql/database-kind.js'
import { postgres } from '../sql/postgres-kind.js'
import { setUpDatabase } from '../sql/set-up-database.js'

const LIMIT = 100
const SIZE = 2
const policy = consecutive({ limit: LIMIT })
const one = [part('a', policy)]
const pair = [part('a', policy), part('b', policy)]

const database = setUpDatabase(postgres)

async function rejection(call: MaybePromise<unknown>): Promise<StoreError> {
  const error = await Promise.resolve(call).then(
    () => 'It was not rejected.',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StoreError)
  return error as StoreError
}

/** Does something with every connection of a pool, as an application may, and releases them. */
async function withEach(pool: UserPool, use: (session: Session) => Promise<unknown>): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: SIZE }, () => pool.take()))
  for (const session of sessions) await use(session).catch(() => undefined)
  for (const session of sessions) session.release()
}

/** A store over a pool of the application, and another pool to see what is committed. */
async function makeShared(driver: object = {}) {
  const { store, pool, table } = await database.makeStore({ size: SIZE, driver })
  const others = database.open()
  const taken = async () => {
    const left = await remainingOf(others.makeStore({ table }), policy, ['a', 'b'])
    return left.map((remaining) => LIMIT - (remaining as number))
  }
  return { store, pool, table, others, taken }
}

beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0.99)) // no purge takes a connection
afterEach(() => jest.restoreAllMocks())

describe('a connection that the application has released', () => {
  const MESSAGE =
    /released to the pool in the middle of a transaction\. Call release\(\) after COMMIT or ROLLBACK/

  test.each([
    ['a single charge', (store: SqlStore) => chargeStore(store, [one])],
    ['a charge of two parts', (store: SqlStore) => chargeStore(store, [pair])],
    ['prepare()', (store: SqlStore) => store.prepare()],
  ])('in a failed transaction fails %s, and later ones work', async (_title, use) => {
    const { store, pool, taken } = await makeShared()
    await withEach(pool, async ({ run }) => {
      for (const sql of ['BEGIN', 'SELECT 1 / 0']) await run(sql)
    })
    for (let i = 0; i < SIZE; i++) expect((await rejection(use(store))).message).toMatch(MESSAGE)
    expect(await taken()).toEqual([0, 0])
    await use(store)
  })

  test('in a transaction fails charges of two parts, and neither is committed, with clients of pg before 8.21', async () => {
    const pool = new Pool({ connectionString: database.server.url, max: 1 })
    pool.on('connect', (client) => Object.assign(client, { getTransactionStatus: undefined }))
    const table = await database.makeTable()
    const store = postgresStore(pool, { table })
    await chargeStore(store, [pair])
    await pool.query('BEGIN')
    await pool.query('CREATE TABLE not_committed (id int)')
    expect((await rejection(chargeStore(store, [pair]))).message).toMatch(MESSAGE)
    expect((await pool.query("SELECT to_regclass('not_committed') AS made")).rows).toEqual([{ made: null }])
    expect(await remainingOf(store, policy, ['a', 'b'])).toEqual([LIMIT - 1, LIMIT - 1])
    await pool.end()
  })

  test('after a BEGIN that was not awaited fails a charge, which is not counted', async () => {
    const { store, pool, taken } = await makeShared()
    await chargeStore(store, [one])
    const sessions = await Promise.all(Array.from({ length: SIZE }, () => pool.take()))
    const begun = sessions.map(({ run }) => run('BEGIN'))
    for (const session of sessions) session.release()
    expect((await rejection(chargeStore(store, [one]))).message).toMatch(
      /Call release\(\) after COMMIT or ROLLBACK/,
    )
    await Promise.all(begun)
    expect(await taken()).toEqual([1, 0])
  })
})

describe('while the application holds all connections', () => {
  test('charges wait, and are each counted once when it releases them', async () => {
    const { store, pool, taken } = await makeShared()
    const sessions = await Promise.all(Array.from({ length: SIZE }, () => pool.take()))
    const charges = Array.from({ length: 2 * LIMIT }, (_, i) =>
      chargeStore(store, [i % 2 === 0 ? one : pair]),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    for (const session of sessions) session.release()
    const verdicts = (await Promise.all(charges)).flat()
    expect(allowedCount(verdicts)).toBe(LIMIT)
    expect((await taken())[0]).toBe(LIMIT)
  })

  test('charges fail with the fix if the pool has a timeout, and work again afterwards', async () => {
    const { store, pool, taken } = await makeShared({ connectionTimeoutMillis: 3000 }) // less than that of the store
    const sessions = await Promise.all(Array.from({ length: SIZE }, () => pool.take()))
    for (const { message } of await Promise.all(
      [one, pair].map((each) => rejection(chargeStore(store, [each]))),
    )) {
      expect(message).toMatch(/All connections of the pool are in use: raise its max/)
    }
    for (const session of sessions) session.release()
    expect(await taken()).toEqual([0, 0])
    await chargeStore(store, [pair])
    expect(await taken()).toEqual([1, 1])
  })
})

describe('on connections whose settings the application has changed', () => {
  const set = (pool: UserPool, sql: string) => withEach(pool, ({ run }) => run(sql))

  test.each(LONG_POLICIES)(
    'two hundred callers take exactly the limit of serializable transactions: %s',
    async (_name, policyOf) => {
      const { pool, table } = await makeShared()
      await set(pool, 'SET default_transaction_isolation = serializable')
      const stores = Array.from({ length: SIZE }, () => pool.makeStore({ table }))
      const charges = Array.from({ length: 200 }, async (_, i) => {
        const parts = [part('a', policyOf(LIMIT)), ...(i % 2 === 0 ? [] : [part('b', policyOf(LIMIT))])]
        return chargeStore(stores[i % SIZE] as SqlStore, [parts])
      })
      expect(allowedCount((await Promise.all(charges)).flat())).toBe(LIMIT)
    },
  )

  test('a search_path without the table fails with the fix, by which charges are exact', async () => {
    const { store, pool, table, others, taken } = await makeShared()
    await others.run('CREATE SCHEMA IF NOT EXISTS tenant')
    await set(pool, 'SET search_path = tenant')
    for (const charge of [one, pair]) {
      const { message } = await rejection(chargeStore(store, [charge]))
      expect(message).toMatch(/If connections change search_path, name the schema too/)
    }
    expect(await taken()).toEqual([0, 0])
    const named = pool.makeStore({ table: `public.${table}` })
    await chargeStore(named, [one])
    await chargeStore(named, [pair])
    expect(await taken()).toEqual([2, 1])
  })

  test.each([
    ['SET default_transaction_read_only = on', 'RESET default_transaction_read_only'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'SET default_transaction_read_only = off'],
  ])('%s fails charges with the fix, and they work again after %s', async (change, back) => {
    const { store, pool, taken } = await makeShared()
    await set(pool, change)
    for (const charge of [one, pair]) {
      expect((await rejection(chargeStore(store, [charge]))).message).toMatch(
        /If connections set default_transaction_read_only, turn it off/,
      )
    }
    expect(await taken()).toEqual([0, 0])
    await set(pool, back)
    await chargeStore(store, [pair])
    expect(await taken()).toEqual([1, 1])
  })

  test('a statement_timeout that is too short for a locked row fails with the fix, and nothing is taken', async () => {
    const { store, pool, table, others, taken } = await makeShared()
    await chargeStore(store, [pair])
    await set(pool, 'SET statement_timeout = 50')
    const locker = await others.take()
    await locker.run('BEGIN')
    await locker.run(`SELECT * FROM ${table} FOR UPDATE`)
    for (const charge of [one, pair]) {
      expect((await rejection(chargeStore(store, [charge]))).message).toMatch(/Raise the statement_timeout/)
    }
    await locker.run('ROLLBACK')
    locker.release()
    expect(await taken()).toEqual([1, 1])
    await chargeStore(store, [pair])
    expect(await taken()).toEqual([2, 2])
  })
})
