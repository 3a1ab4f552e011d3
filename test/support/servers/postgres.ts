import { execFile } from 'node:child_process'
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import {
  freshPassword,
  type RunSql,
  type SqlOptions,
  type SqlServer,
  useGivenSql,
  withQuery,
} from './databases.js'
import { layFirstData } from './first-data.js'
import { findOrInstall } from './install.js'
import { type Place, type ServerProcess, startProcess } from './processes.js'
import { HOST, ownServer } from './server.js'
import { serviceUser } from './users.js'
import { until } from './wait.js'

const run = promisify(execFile)
const GIVER = {
  variable: 'POSTGRES_URL',
  starter: 'startPostgres',
  defaultPort: 5432,
  dropOptions: 'WITH (FORCE)', // even where a test left a connection open
}
const CONNECT_TIMEOUT_MS = 10_000

/** Debian has the programs of each version here, and not on `PATH`. */
const VERSIONS = '/usr/lib/postgresql'

/**
 * Without the waits for the disk that a machine's failure would need; what was committed outlives SIGKILL.
 */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'shared_buffers=64MB', `listen_addresses=${HOST}`]

const INITDB_OPTIONS = [
  '--username=headgate',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--no-locale',
  '--no-sync',
  '--no-instructions',
]

/** The password is created with the data: only the user who runs the tests can read either. */
const DATA = 'data'
const PASSWORD = 'password'

/**
 * Starts a PostgreSQL server with an empty database and a user who may do everything. Where the environment
 * variable `POSTGRES_URL` names a server, a database is made there instead, unless the test needs options
 * (such as `['-c', 'lock_timeout=1s']`) or a server of its own.
 */
export async function startPostgres({
  args = [],
  own = args.length > 0,
}: SqlOptions = {}): Promise<SqlServer> {
  const given = process.env.POSTGRES_URL || process.env.HEADGATE_TESTS_POSTGRES_URL // the latter is shared by a run
  return given && !own ? useGivenSql(given, GIVER, runSql) : startOwn(args)
}

async function startOwn(args: readonly string[]): Promise<SqlServer> {
  const { initdb, postgres } = await findPostgres()
  const user = await serviceUser('postgres')
  let password = ''
  const urlOf = ({ port }: Place) => `postgres://headgate:${password}@${HOST}:${port}/postgres`
  const server = await startProcess({
    name: 'postgres',
    program: postgres,
    user,
    async prepare({ folder }) {
      await layFirstData(folder, {
        program: postgres,
        settings: INITDB_OPTIONS,
        files: [DATA, PASSWORD],
        async make() {
          await writeFile(passwordIn(folder), freshPassword())
          const args = ['-D', dataIn(folder), `--pwfile=${passwordIn(folder)}`, ...INITDB_OPTIONS]
          await run(initdb, args, { cwd: folder, ...user })
        },
      })
      password = await readFile(passwordIn(folder), 'utf8')
    },
    args: ({ port, folder }) => {
      const settings = [...SETTINGS, `unix_socket_directories=${folder}`].flatMap((each) => ['-c', each])
      return ['-D', dataIn(folder), '-p', String(port), ...settings, ...args]
    },
    async ready(place) {
      const [row] = await runSql(urlOf(place), 'SHOW data_directory')
      return row?.data_directory === dataIn(place.folder)
    },
    closingSignal: 'SIGTERM', // waits for its clients to leave: `end` of a pool (pg 8.16) does not wait until they have
    endSignal: 'SIGINT',
  })
  const own = ownServer(server, urlOf(server))
  return withQuery(Object.assign(own, { restart: () => restart(server) }), runSql)
}

/**
 * After SIGKILL the processes of its connections take a moment to end, and it does not start beside them.
 */
async function restart(server: ServerProcess): Promise<void> {
  await until('postgres starts again', () => server.restart().then(() => true))
}

/** The server of the newest version; its programs stand beside each other. */
async function findPostgres(): Promise<{ initdb: string; postgres: string }> {
  const initdb = await findOrInstall({
    program: 'initdb',
    folders: async () => {
      const versions = await readdir(VERSIONS).catch(() => [])
      return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(VERSIONS, version, 'bin'))
    },
    debianPackage: 'postgresql',
    instead: 'set POSTGRES_URL',
  })
  return { initdb, postgres: join(dirname(await realpath(initdb)), 'postgres') }
}

const dataIn = (folder: string) => join(folder, DATA)

const passwordIn = (folder: string) => join(folder, PASSWORD)

const runSql: RunSql = async (url, sql) => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {}) // a connection that breaks fails what is under way, which says so
  try {
    await client.connect()
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
