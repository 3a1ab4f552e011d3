import { startPostgres } from '../support/servers/postgres.js'
import { compareStores } from './compare-stores.js'
import { POSTGRES_STORES, type PostgresStoreName } from './contenders/postgres-stores.js'
import { watchPostgres } from './harness/sql-usage.js'
import { isOurs, limiterGoal, printResults, type Report } from './server-tables.js'
import { SQL_WORKLOADS } from './workloads.js'

const COUNTS = { commits: 'requests', writes: 'writes' } as const

/** More than it has tables: each is tidied up in transactions of the server's own. */
const OWN_COMMITS = 250

const REPORT: Report<PostgresStoreName> = {
  server: 'PostgreSQL',
  names: Object.keys(POSTGRES_STORES) as PostgresStoreName[],
  workloads: SQL_WORKLOADS,
  hasP99: true,
  counts: { throughput: COUNTS, latency: COUNTS },
  goals: [
    { goal: 'decisions a second, 10,000 keys', workload: 'many keys', figure: 'wallNs', times: 3 },
    { goal: 'p99 of 200 callers, 10,000 keys', workload: 'many keys', figure: 'p99Ns', times: 1 },
    { goal: "one caller's median latency", workload: 'one caller', figure: 'medianNs', times: 1 },
    limiterGoal('decisions a second, 10,000 keys', 'many keys', 'wallNs', 3),
    limiterGoal('median of one caller', 'one caller', 'medianNs', 1),
  ],
}

/** The stores on one PostgreSQL server. The peer sends one statement. */
export async function benchPostgres(): Promise<void> {
  const server = await startPostgres({ own: true })
  try {
    const watcher = await watchPostgres(server)
    const results = await compareStores<PostgresStoreName>({
      names: REPORT.names,
      workloads: SQL_WORKLOADS,
      child: new URL('./postgres-child.ts', import.meta.url),
      url: server.url,
      empty: () => watcher.empty(),
      usage: () => watcher.usage(),
      requestsPerDecision: (name) => (isOurs(name) ? undefined : 1),
      ownRequests: OWN_COMMITS,
    }).finally(() => watcher.end())
    printResults(REPORT, results)
  } finally {
    await server.stop()
  }
}
