import { startMariadb } from '../support/servers/mariadb.js'
import { compareStores } from './compare-stores.js'
import { MYSQL_STORES, type MysqlStoreName } from './contenders/mysql-stores.js'
import { watchMariadb } from './harness/sql-usage.js'
import { isOurs, limiterGoal, printResults, type Report } from './server-tables.js'
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
    limiterGoal('decisions a second, 10,000 keys', 'many keys', 'wallNs', 6),
  ],
}

/** The stores on one MariaDB server. The peer sends four statements: BEGIN, INSERT, SELECT, COMMIT. */
export async function benchMysql(): Promise<void> {
  const server = await startMariadb({ own: true })
  try {
    const watcher = await watchMariadb(server)
    const results = await compareStores<MysqlStoreName>({
      names: REPORT.names,
      workloads: SQL_WORKLOADS,
      child: new URL('./mysql-child.ts', import.meta.url),
      url: server.url,
      empty: () => watcher.empty(),
      usage: () => watcher.usage(),
      requestsPerDecision: (name) => (isOurs(name) ? undefined : 4),
    }).finally(() => watcher.end())
    printResults(REPORT, results)
  } finally {
    await server.stop()
  }
}
