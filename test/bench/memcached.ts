import { compareStores } from './compare-stores.js'
import { MEMCACHED_STORES, type MemcachedStoreName } from './contenders/memcached-stores.js'
import { onMemcached } from './harness/bench-servers.js'
import { isOurs, printResults, type Report } from './server-tables.js'
import { CACHE_WORKLOADS } from './workloads.js'

const COUNTS = { requests: 'requests', writes: 'writes' } as const
const WINDOWS: readonly MemcachedStoreName[] = ['headgate, fixed window', 'headgate, sliding window']

const REPORT: Report<MemcachedStoreName> = {
  server: 'memcached',
  names: Object.keys(MEMCACHED_STORES) as MemcachedStoreName[],
  workloads: CACHE_WORKLOADS,
  counts: { throughput: COUNTS, latency: COUNTS },
  goals: [
    {
      goal: 'decisions a second, 10,000 keys, windows',
      workload: 'many keys',
      figure: 'wallNs',
      times: 2.5,
      of: WINDOWS,
    },
    {
      goal: 'decisions a second, 10,000 keys, token bucket',
      workload: 'many keys',
      figure: 'wallNs',
      times: 1,
      of: ['headgate, token bucket'],
    },
    { goal: 'decisions a second, one key', workload: 'one key', figure: 'wallNs', times: 5 },
  ],
}

/**
 * The memcached stores on one server. The peers count, and then ask when the window ends: two requests, one
 * after the other.
 */
export async function benchMemcached(): Promise<void> {
  const results = await onMemcached((server) =>
    compareStores<MemcachedStoreName>(
      {
        ...server,
        names: REPORT.names,
        child: new URL('./memcached-child.ts', import.meta.url),
        requestsPerDecision: (name) => (isOurs(name) ? undefined : 2),
      },
      CACHE_WORKLOADS,
    ),
  )
  printResults(REPORT, results)
}
