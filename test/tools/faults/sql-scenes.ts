import { setTimeout as pause } from 'node:timers/promises'
import { mysqlSchema } from 'headgate/mysql'
import { postgresSchema } from 'headgate/postgres'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import type { SqlServer } from '../../support/servers/databases.js'
import { startMariadb } from '../../support/servers/mariadb.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { commonFaults, repeat } from './common-faults.js'
import { diskFull, onSmallDisk, type SmallDisk } from './full-disk.js'
import { behindProxy, type Fault, type Scene, type Stage } from './stage.js'

type SqlStage = Stage & { readonly server: SqlServer }

const LOCKED_MS = 5000
/** What the servers write at the start, and some room. */
const SMALL_MB = 250

/** Ends all connections except its own. */
function connectionsKilled(kill: (server: SqlServer) => Promise<unknown>): Fault<SqlStage> {
  return { name: 'connections killed', inflict: ({ server }) => repeat(1500, 200, () => kill(server)) }
}

function tableLocked(lock: (url: string) => Promise<unknown>): Fault<SqlStage> {
  return { name: 'table locked', inflict: ({ server }) => lock(server.url) }
}

/** The same server, with a proxy before it. */
async function stageOf(kind: 'mariadb' | 'postgres', server: SqlServer, schema: readonly string[]) {
  for (const sql of schema) await server.query(sql)
  return behindProxy(
    server,
    ({ host, port }) => {
      const url = new URL(server.url)
      url.host = `${host}:${port}`
      return { kind, url: url.href }
    },
    () => server.query('SELECT 1'),
    {},
  )
}

export const mariadb: Scene<SqlStage> = {
  store: 'mariadb',
  faults: [
    ...commonFaults(0),
    connectionsKilled(async (server) => {
      const rows = await server.query(
        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'headgate'",
      )
      for (const { id } of rows) await server.query(`KILL ${id}`).catch(() => undefined) // it has ended
    }),
    tableLocked(async (url) => {
      const connection = await createConnection(url)
      await connection.query('LOCK TABLES headgate WRITE')
      await pause(LOCKED_MS)
      await connection.query('UNLOCK TABLES')
      await connection.end()
    }),
  ],
  start: async () => stageOf('mariadb', await startMariadb({ own: true }), mysqlSchema().split(';')),
}

export const postgres: Scene<SqlStage> = {
  store: 'postgres',
  faults: [
    ...commonFaults(0),
    connectionsKilled((server) =>
      server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
      ),
    ),
    tableLocked(async (url) => {
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query('BEGIN; LOCK TABLE headgate IN ACCESS EXCLUSIVE MODE')
      await pause(LOCKED_MS)
      await client.query('COMMIT')
      await client.end()
    }),
  ],
  start: async () => stageOf('postgres', await startPostgres({ own: true }), [postgresSchema()].flat()),
}

type SmallStage = SqlStage & { readonly disk: SmallDisk }

/** The same on disks that can be filled. */
export const onSmallDisks: readonly Scene<SmallStage>[] = [mariadb, postgres].map(({ store, start }) => {
  return { store, faults: [diskFull], start: () => onSmallDisk(SMALL_MB, start) }
})
