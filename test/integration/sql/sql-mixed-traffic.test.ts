import type { Store } from 'headgate'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { type Children, startChildren } from './children.js'
import { isForgotten, type MixedCounts, type MixedOrder, policyOf, type Taken } from './mixed-traffic.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const PROCESSES = 4
const CALLERS = 40
const DECISIONS = 3000

describe.each(DATABASES)('on %s', (_name, kind) => {
  // Nearly every transaction needs a hot row, so that they run one after another: eight batches wait for as
  // long as seven transactions take. On a busy disk their commits took so long that waits ran into the lock
  // time-out.
  const database = setUpDatabase(kind, { args: kind.unflushed })
  let children: Children
  let table: string

  beforeAll(async () => {
    table = await database.makeTable()
    const place = { kind, url: database.server.url, table }
    children = await startChildren('mixed-child.ts', PROCESSES, place)
    await askAll({ decisions: 0, callers: 0 }) // all are there
  }, 60_000)

  afterAll(() => children?.end())

  function askAll(order: Omit<MixedOrder, 'process'>): Promise<MixedCounts[]> {
    return children.ask((process) => ({ ...order, process }))
  }

  test('mixed traffic from four processes fails no call, and takes exactly the allowed units', async () => {
    const counts = await askAll({ decisions: DECISIONS / PROCESSES, callers: CALLERS })
    expect(counts.map(({ errors }) => errors)).toEqual(counts.map(() => ({})))
    const sum = (name: 'allowed' | 'denied' | 'refunds' | 'forgets') =>
      counts.reduce((total, each) => total + each[name], 0)
    expect(sum('allowed') + sum('denied')).toBe(DECISIONS)
    for (const each of [sum('denied'), sum('refunds')]) expect(each).toBeGreaterThan(DECISIONS / 20)
    expect(sum('forgets')).toBeGreaterThan(DECISIONS / 200)
    await expectReconciled(database.open().makeStore({ table }), addUp(counts))
  }, 120_000)
})

function addUp(counts: readonly MixedCounts[]): Taken {
  const all: Taken = {}
  for (const { taken } of counts)
    for (const [key, units] of Object.entries(taken)) all[key] = (all[key] ?? 0) + units
  return all
}

async function expectReconciled(store: Store, taken: Taken): Promise<void> {
  const keys = Object.keys(taken)
  expect(keys.length).toBeGreaterThan(DECISIONS / 20)
  const { parts } = await chargeOne(store, ...keys.map((key) => part(key, policyOf(key), 0)))
  const atRest = keys.map(
    (key, i) => [key, policyOf(key).limit - (parts[i]?.remaining ?? Number.NaN)] as const,
  )
  const left = atRest.filter(([key]) => !isForgotten(key))
  expect(left.filter(([key, units]) => units !== taken[key])).toEqual([])
  for (const [key, units] of atRest) expect(units).toBeLessThanOrEqual(taken[key] ?? 0)
}
