import { compareStores } from './compare-stores.js'
import { MYSQL_STORES, type MysqlStoreName } from './contenders/mysql-stores.js'
import { onMariadb } from './harness/bench-servers.js'
import { isOurs, printResults, type Report } from './server-tables.js'
import { SQL_WORKLOADS } from './workloads.js'

const COUNTS = { queries: 'requests', writes: 'writes' } as const

const REPORT: Report<MysqlStoreName> = {
  server: 'MariaDB',
  names: Object.keys(MYSQL_STORES) as MysqlStoreName[],
  workloads: SQL_WORKLOADS,
  hasP99: true,
  counts: { throughput: COUNTS, latency: COUNTS },
  goals: [
    { goal: 'decisions a second, 10,000 keys', workload: 'many keys', figure: 'wallNs', times: 6 },
    { goal: 'p99 of 200 callers, 10,000 keys', workload: 'many keys', figure: 'p99Ns', times: 1 },
    { goal: "one caller's median latency", workload: 'one caller', figure: 'medianNs', times: 1 },
  ],
}

/** The stores on one MariaDB server. The peer sends four statements: BEGIN, INSERT, SELECT, COMMIT. */
export async function benchMysql(): Promise<void> {
  const results = await onMariadb((server) =>
    compareStores<MysqlStoreName>(
      {
        ...server,
        names: REPORT.names,
        child: new URL('./mysql-child.ts', import.meta.url),
        requestsPerDecision: (name) => (isOurs(name) ? undefined : 4),
      },
      SQL_WORKLOADS,
    ),
  )
  printResults(REPORT, results)
}
