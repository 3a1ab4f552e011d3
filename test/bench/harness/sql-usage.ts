import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import type { SqlServer } from '../../support/servers/databases.js'
import { cpuNsOfTree } from './process-cpu.js'
import type { ServerUsage } from './server-usage.js'

/** A connection that observes the server. */
export interface SqlWatcher {
  /** Removes all tables. */
  empty(): Promise<void>
  usage(): Promise<ServerUsage>
  end(): Promise<void>
}

/** Requests are statements that clients sent, without those of this connection. */
export async function watchMariadb(server: SqlServer): Promise<SqlWatcher> {
  const connection = await createConnection(server.url)
  let ownStatements = 0
  async function run(sql: string) {
    ownStatements++
    return (await connection.query(sql))[0]
  }
  return {
    async empty() {
      await run('DROP DATABASE headgate')
      await run('CREATE DATABASE headgate')
    },
    async usage() {
      const [row] = (await run("SHOW GLOBAL STATUS LIKE 'Questions'")) as { Value: string }[]
      const requests = Number(row?.Value) - ownStatements
      return { serverCpuNs: cpuNsOfTree(pidOf(server)), requests, commandNs: 0 }
    },
    end: () => connection.end(),
  }
}

/**
 * Requests are transactions that wrote something: each takes one number. The counters in pg_stat_database
 * are behind by seconds. The server's own work, such as removing dead rows, takes some numbers too.
 */
export async function watchPostgres(server: SqlServer): Promise<SqlWatcher> {
  const client = new Client(server.url)
  await client.connect()
  return {
    async empty() {
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    },
    async usage() {
      const { rows } = await client.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next')
      return { serverCpuNs: cpuNsOfTree(pidOf(server)), requests: Number(rows[0]?.next), commandNs: 0 }
    },
    end: () => client.end(),
  }
}

function pidOf({ pid }: SqlServer): number {
  if (pid === undefined) throw new Error('The server does not run.')
  return pid
}
