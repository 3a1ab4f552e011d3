import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { SqlServer } from './databases.js'
import { findOrInstall } from './install.js'
import { startProcess } from './processes.js'
import { HOST, ownServer, type Server } from './server.js'
import { serviceUser } from './users.js'

/** What a test says about a PgBouncer. */
export interface PgbouncerOptions {
  /** When a client's connection of the server goes to the next one. Default: after each transaction. */
  readonly poolMode?: 'session' | 'transaction' | 'statement'
  /** How many connections of the server all clients share. Default 5. */
  readonly poolSize?: number
}

/** Starts a PgBouncer before a server, which has to outlive it. Its `url` leads to the same database. */
export async function startPgbouncer(
  { url, host, port }: SqlServer,
  { poolMode = 'transaction', poolSize = 5 }: PgbouncerOptions = {},
): Promise<Server> {
  const { username, password, pathname } = new URL(url)
  const program = await findOrInstall({ program: 'pgbouncer', debianPackage: 'pgbouncer' })
  const urlAt = (itsPort: number) => `postgres://${username}:${password}@${HOST}:${itsPort}${pathname}`
  const server = await startProcess({
    name: 'pgbouncer',
    program,
    user: await serviceUser('postgres'),
    async prepare(place) {
      await writeFile(join(place.folder, 'users.txt'), `"${username}" "${password}"\n`, { mode: 0o644 })
      const settings = [
        '[databases]',
        `* = host=${host} port=${port}`,
        '[pgbouncer]',
        `listen_addr = ${HOST}`,
        `listen_port = ${place.port}`,
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${join(place.folder, 'users.txt')}`,
        `pool_mode = ${poolMode}`,
        `default_pool_size = ${poolSize}`,
        'max_client_conn = 500',
        'so_reuseport = 0',
      ]
      await writeFile(join(place.folder, 'settings.ini'), settings.join('\n'), { mode: 0o644 })
    },
    args: ({ folder }) => [join(folder, 'settings.ini')],
    ready: ({ port: itsPort }) => answers(urlAt(itsPort)),
    endSignal: 'SIGINT',
  })
  return ownServer(server, urlAt(server.port))
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } finally {
    await client.end()
  }
}
