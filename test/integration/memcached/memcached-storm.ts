import { join } from 'node:path'
import { memcachedStore } from 'headgate/memcached'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import type { StormQuestion } from '../../bench/memcached-storm-child.js'
import {
  addUp,
  bucketOf,
  mostAllowed,
  type Storm,
  type StormCounts,
} from '../../bench/memcached-storm-counts.js'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { connections } from './clients.js'

const STORMS: readonly (readonly [string, Omit<Storm, 'forMs'>])[] = [
  ['that is nearly always written', { capacity: 500, refill: 5000, everyMs: 1000, callers: 30 }],
  ['that is nearly always empty', { capacity: 50, refill: 100, everyMs: 1000, callers: 30 }],
]

/** Defines the tests of so many processes that charge one bucket for so long. */
export function describeMemcachedStorm({ processes, forMs }: { processes: number; forMs: number }): void {
  const { open, closeAll } = connections()
  let server: MemcachedServer
  let children: Children

  beforeAll(async () => {
    server = await startMemcached()
    const module = join(__dirname, '../../bench/memcached-storm-child.ts')
    children = await startChildren(module, processes, [server.url])
    await rage({ key: 'none', capacity: 1, refill: 1, everyMs: 1, callers: 0, forMs: 0 }) // all are there
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await children?.end()
    closeAll()
    await server?.stop()
  })

  /** What came of a storm, in each process. */
  function rage(question: StormQuestion): Promise<StormCounts[]> {
    return children.ask(() => question)
  }

  test.each(STORMS)(
    'a storm of several processes on one bucket %s never exceeds its limit',
    async (_, rate) => {
      const storm = { ...rate, forMs }
      const key = `storm:${process.pid}-${Date.now()}`
      const each = await rage({ key, ...storm })
      const counts = addUp(each)
      const most = mostAllowed(storm, counts)
      expect(counts.allowed).toBeLessThanOrEqual(most)
      // Nobody is denied while the bucket still has what it had at the start.
      const decided = counts.allowed + counts.denied
      expect(counts.allowed).toBeGreaterThanOrEqual(Math.min(decided, storm.capacity))
      expect(counts.ranOut).toBe(0) // no charge fails because of load
      for (const { allowed } of each) expect(allowed).toBeGreaterThan(0) // nobody is starved
      // What is left afterwards is what was promised and not allowed, and no more.
      const { atMs, parts } = await chargeOne(memcachedStore(open(server.url)), part(key, bucketOf(storm), 0))
      const owed = mostAllowed(storm, { ...counts, lastMs: atMs }) - counts.allowed
      expect(parts[0]?.remaining).toBeLessThanOrEqual(owed)
    },
  )
}
