import type { Store } from 'headgate'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import type { StormQuestion } from '../../bench/memcached-storm-child.js'
import {
  addUp,
  bucketOf,
  mostAllowed,
  type Storm,
  type StormCounts,
} from '../../bench/memcached-storm-counts.js'
import { type Children, childrenOf } from './children.js'
import { isForgotten, type MixedCounts, type MixedOrder, policyOf, type Taken } from './mixed-traffic.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

/** How much traffic there is. */
interface Load {
  readonly processes: number
  /** How many decisions the processes make together in mixed traffic, and by how many callers each. */
  readonly decisions: number
  readonly callers: number
  /** How long each storm lasts. */
  readonly stormMs: number
}

/** It refills faster than a busy machine takes from it. */
const WRITTEN = 'nearly always written'

/** Buckets that time refills while all charge them, so that the time of a decision matters. */
const STORMS: readonly (readonly [string, Omit<Storm, 'forMs'>])[] = [
  [WRITTEN, { capacity: 500, refill: 5000, everyMs: 1000, callers: 30 }],
  ['nearly always empty', { capacity: 50, refill: 100, everyMs: 1000, callers: 30 }],
  ['nearly always empty, by a few', { capacity: 20, refill: 100, everyMs: 1000, callers: 2 }],
]

/** Defines the tests of several processes with heavy traffic on one table. */
export function describeSqlTraffic({ processes, decisions, callers, stormMs }: Load): void {
  const startChildren = childrenOf('traffic-child.ts')

  describe.each(DATABASES)('on %s', (_name, kind) => {
    // Nearly every transaction of mixed traffic needs a hot row, so that they run one after another: eight
    // batches wait for as long as seven transactions take. On a busy disk their commits took so long that
    // waits ran into the lock time-out.
    const database = setUpDatabase(kind, { args: kind.unflushed })
    let children: Children
    let table: string

    beforeAll(async () => {
      table = await database.makeTable()
      children = startChildren(processes, { kind, url: database.server.url, table })
      await askAll({ decisions: 0, callers: 0 }) // all are there
    })

    afterAll(() => children?.end())

    function askAll(order: Omit<MixedOrder, 'process'>): Promise<MixedCounts[]> {
      return children.ask((process) => ({ ...order, process }))
    }

    test(`mixed traffic from ${processes} processes fails no call, and takes exactly the allowed units`, async () => {
      const counts = await askAll({ decisions: decisions / processes, callers })
      expect(counts.map(({ errors }) => errors)).toEqual(counts.map(() => ({})))
      const sum = (name: 'allowed' | 'denied' | 'refunds' | 'forgets') =>
        counts.reduce((total, each) => total + each[name], 0)
      expect(sum('allowed') + sum('denied')).toBe(decisions)
      for (const each of [sum('denied'), sum('refunds')]) expect(each).toBeGreaterThan(decisions / 20)
      expect(sum('forgets')).toBeGreaterThan(decisions / 200)
      const taken = addUpTaken(counts)
      expect(Object.keys(taken).length).toBeGreaterThan(decisions / 20)
      await expectReconciled(database.open().makeStore({ table }), taken)
    })

    /** What came of a storm, in each process. */
    function rage(question: StormQuestion): Promise<StormCounts[]> {
      return children.ask(() => question)
    }

    test.each(STORMS)(
      `a storm of ${processes} processes on one bucket that is %s never exceeds its limit`,
      async (key, rate) => {
        const storm = { ...rate, forMs: stormMs }
        const each = await rage({ key, ...storm })
        const counts = addUp(each)
        const most = mostAllowed(storm, counts)
        expect(counts.allowed).toBeLessThanOrEqual(most)
        if (key !== WRITTEN) expect(counts.allowed).toBeGreaterThan(most / 2)
        for (const { allowed } of each) expect(allowed).toBeGreaterThan(0) // nobody is starved
        // No more is left afterwards than what was not taken.
        const store = database.open().makeStore({ table })
        const { atMs, parts } = await chargeOne(store, part(key, bucketOf(storm), 0))
        const owed = mostAllowed(storm, { ...counts, lastMs: atMs }) - counts.allowed
        expect(parts[0]?.remaining).toBeLessThanOrEqual(owed)
      },
    )
  })
}

function addUpTaken(counts: readonly MixedCounts[]): Taken {
  const all: Taken = {}
  for (const { taken } of counts)
    for (const [key, units] of Object.entries(taken)) all[key] = (all[key] ?? 0) + units
  return all
}

async function expectReconciled(store: Store, taken: Taken): Promise<void> {
  const keys = Object.keys(taken)
  const { parts } = await chargeOne(store, ...keys.map((key) => part(key, policyOf(key), 0)))
  const atRest = keys.map(
    (key, i) => [key, policyOf(key).limit - (parts[i]?.remaining ?? Number.NaN)] as const,
  )
  const left = atRest.filter(([key]) => !isForgotten(key))
  expect(left.filter(([key, units]) => units !== taken[key])).toEqual([])
  for (const [key, units] of atRest) expect(units).toBeLessThanOrEqual(taken[key] ?? 0)
}
