import { compareStores } from './compare-stores.js'
import { REDIS_STORES, type RedisStoreName } from './contenders/redis-stores.js'
import { onRedis } from './harness/bench-servers.js'
import { keepRedisPlots } from './page-plots.js'
import { decisionBars, plotDecisions } from './server-plots.js'
import { isOurs, printResults, type Report } from './server-tables.js'
import { CACHE_WORKLOADS } from './workloads.js'

const REPORT: Report<RedisStoreName> = {
  server: 'Redis',
  names: Object.keys(REDIS_STORES) as RedisStoreName[],
  workloads: CACHE_WORKLOADS,
  counts: { throughput: { calls: 'requests' }, latency: {} },
  goals: [
    { goal: 'decisions a second, 10,000 keys', workload: 'many keys', figure: 'wallNs', times: 3 },
    { goal: 'client CPU, 10,000 keys', workload: 'many keys', figure: 'cpuNs', times: 5 },
    { goal: 'Redis CPU, 10,000 keys', workload: 'many keys', figure: 'serverCpuNs', times: 3 },
    { goal: 'decisions a second, one key', workload: 'one key', figure: 'wallNs', times: 5 },
    { goal: "one caller's median latency", workload: 'one caller', figure: 'medianNs', times: 1 / 1.1 },
  ],
}

/** The Redis stores on one server. */
export async function benchRedis(): Promise<void> {
  const results = await onRedis((server) =>
    compareStores<RedisStoreName>(
      {
        ...server,
        names: REPORT.names,
        child: new URL('./redis-child.ts', import.meta.url),
        requestsPerDecision: (name, callers) => (callers === 1 || !isOurs(name) ? 1 : undefined),
      },
      CACHE_WORKLOADS,
    ),
  )
  printResults(REPORT, results)
  await plotDecisions(REPORT, results)
  const shown = decisionBars(REPORT, results, [
    'headgate, limiter',
    'rate-limit-redis',
    'rate-limiter-flexible',
  ])
  await keepRedisPlots(shown.map((bar) => ({ ...bar, label: bar.label.replace(', limiter', '') })))
}
