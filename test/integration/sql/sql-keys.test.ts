import { fixedWindow } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import { AWKWARD_KEYS } from './awkward-keys.js'
import { expectKeptApart } from './kept-apart.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)
  const policy = fixedWindow({ limit: 1000, window: LONG })

  test('keys of every kind and length are charged, refunded and forgotten separately', async () => {
    const { store } = await database.makeStore()
    await expectKeptApart(store)
  })

  test('all processes share a key, also one that is too long or not well-formed', async () => {
    const { store, table } = await database.makeStore()
    const others = database.open().makeStore({ table })
    for (const key of AWKWARD_KEYS) await chargeStore(store, [[part(key, policy, 3)]])
    expect(await remainingOf(others, policy, AWKWARD_KEYS)).toEqual(AWKWARD_KEYS.map(() => 997))
  })

  test('a charge of all keys is all or nothing', async () => {
    const { store } = await database.makeStore()
    const charge = AWKWARD_KEYS.map((key) => part(key, policy, 400))
    expect((await chargeOne(store, ...charge)).allowed).toBe(true)
    await chargeStore(store, [[part(AWKWARD_KEYS.at(-1) ?? '', policy, 300)]])
    expect((await chargeOne(store, ...charge)).allowed).toBe(false)
    expect(await remainingOf(store, policy, AWKWARD_KEYS)).toEqual(
      AWKWARD_KEYS.map((_key, i) => (i === AWKWARD_KEYS.length - 1 ? 300 : 600)),
    )
  })

  test('each key has one row, and there are no other rows', async () => {
    const { store, pool, table } = await database.makeStore()
    await chargeStore(
      store,
      AWKWARD_KEYS.map((key) => [part(key, policy)]),
    )
    const [row] = await pool.run(
      `SELECT count(*) AS count, max(length(${kind.quote('key')})) AS longest FROM ${table}`,
    )
    expect(Object.values(row ?? {}).map(Number)).toEqual([AWKWARD_KEYS.length, 255])
  })
})
