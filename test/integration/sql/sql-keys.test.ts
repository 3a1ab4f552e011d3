import { fixedWindow } from 'headgate'
import { chargeOne, LONG, part, remainingOf } from '../../conformance/kit.js'
import { AWKWARD_KEYS } from './awkward-keys.js'
import { expectKeptApart } from './kept-apart.js'
import { DATABASES, surroundings } from './kit.js'

describe.each(DATABASES)('on %s', (_name, kind) => {
  const around = surroundings(kind)
  const policy = fixedWindow({ limit: 1000, window: LONG })

  test('keys of every kind and length are each their own: charged, given back, forgotten', async () => {
    const { store } = await around.makeStore()
    await expectKeptApart(store)
  })

  test('keys are one to all processes, also those that are too long or no text', async () => {
    const { store, table } = await around.makeStore()
    const others = around.open().makeStore({ table })
    for (const key of AWKWARD_KEYS) await store.charge([[part(key, policy, 3)]])
    expect(await remainingOf(others, policy, AWKWARD_KEYS)).toEqual(AWKWARD_KEYS.map(() => 997))
  })

  test('a charge of all of them is all or nothing', async () => {
    const { store } = await around.makeStore()
    const charge = AWKWARD_KEYS.map((key) => part(key, policy, 400))
    expect((await chargeOne(store, ...charge)).allowed).toBe(true)
    await store.charge([[part(AWKWARD_KEYS.at(-1) ?? '', policy, 300)]])
    expect((await chargeOne(store, ...charge)).allowed).toBe(false)
    expect(await remainingOf(store, policy, AWKWARD_KEYS)).toEqual(
      AWKWARD_KEYS.map((_key, i) => (i === AWKWARD_KEYS.length - 1 ? 300 : 600)),
    )
  })

  test('a row is kept for each, and nothing else has come to be', async () => {
    const { store, pool, table } = await around.makeStore()
    await store.charge(AWKWARD_KEYS.map((key) => [part(key, policy)]))
    const [row] = await pool.run(
      `SELECT count(*) AS count, max(length(${kind.quote('key')})) AS longest FROM ${table}`,
    )
    expect(Object.values(row ?? {}).map(Number)).toEqual([AWKWARD_KEYS.length, 255])
  })
})
