import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import type { StormQuestion } from '../../bench/memcached-storm-child.js'
import {
  addUp,
  bucketOf,
  mostAllowed,
  type Storm,
  type StormCounts,
} from '../../bench/memcached-storm-counts.js'
import { type Children, startChildren } from './children.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const PROCESSES = 4
const FOR_MS = 1000

/** It refills faster than a busy machine takes from it. */
const WRITTEN = 'nearly always written'

/** Buckets that time refills while all charge them, so that the time of a decision matters. */
const STORMS: readonly (readonly [string, Storm])[] = [
  [WRITTEN, { capacity: 500, refill: 5000, everyMs: 1000, callers: 30, forMs: FOR_MS }],
  ['nearly always empty', { capacity: 50, refill: 100, everyMs: 1000, callers: 30, forMs: FOR_MS }],
  ['nearly always empty, by a few', { capacity: 20, refill: 100, everyMs: 1000, callers: 2, forMs: FOR_MS }],
]

describe.each(DATABASES)('on %s, a storm of several processes', (_name, kind) => {
  const database = setUpDatabase(kind, { args: kind.unflushed })
  let children: Children
  let table: string

  beforeAll(async () => {
    table = await database.makeTable()
    const place = { kind, url: database.server.url, table }
    children = await startChildren('storm-child.ts', PROCESSES, place)
    await rage({ key: 'none', capacity: 1, refill: 1, everyMs: 1, callers: 0, forMs: 0 }) // all are there
  }, 60_000)

  afterAll(() => children?.end())

  /** What came of a storm, in each process. */
  function rage(question: StormQuestion): Promise<StormCounts[]> {
    return children.ask(() => question)
  }

  test.each(STORMS)('on one bucket that is %s never exceeds its limit', async (key, storm) => {
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
  })
})
