import { compareStores } from './compare-stores.js'
import { POSTGRES_STORES, type PostgresStoreName } from './contenders/postgres-stores.js'
import { onPostgres } from './harness/bench-servers.js'
import { isOurs, printResults, type Report } from './server-tables.js'
import { SQL_WORKLOADS } from './workloads.js'

const COUNTS = { commits: 'requests', writes: 'writes' } as const

/** More than it has tables: each is tidied up in transactions of the server's own. */
export const OWN_COMMITS = 250

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
  ],
}

/** The stores on one PostgreSQL server. The peer sends one statement. */
export async function benchPostgres(): Promise<void> {
  const results = await onPostgres((server) =>
    compareStores<PostgresStoreName>(
      {
        ...server,
        names: REPORT.names,
        child: new URL('./postgres-child.ts', import.meta.url),
        requestsPerDecision: (name) => (isOurs(name) ? undefined : 1),
        ownRequests: OWN_COMMITS,
      },
      SQL_WORKLOADS,
    ),
  )
  printResults(REPORT, results)
}
