import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
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
import { type Place, startProcess } from './processes.js'
import { HOST, ownServer } from './server.js'
import { serviceUser } from './users.js'

const run = promisify(execFile)
const GIVER = { variable: 'MYSQL_URL', starter: 'startMariadb', defaultPort: 3306 }
const CONNECT_TIMEOUT_MS = 10_000

/**
 * Small, and without the waits for the disk that a machine's failure would need; what was committed
 * outlives SIGKILL. Some containers forbid the kernel's asynchronous I/O.
 */
const OPTIONS = [
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=32M',
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-use-native-aio=OFF',
  '--skip-log-bin',
  '--performance-schema=OFF',
  '--skip-name-resolve',
  '--character-set-server=utf8mb4',
]
const INSTALL_OPTIONS = ['--skip-test-db', ...OPTIONS]
const DATA = 'data'

/**
 * Starts a MariaDB server with an empty database and a user who may do everything. Where the environment
 * variable `MYSQL_URL` names a server, a database is made there instead, unless the test needs options or a
 * server of its own.
 */
export async function startMariadb({
  args = [],
  own = args.length > 0,
}: SqlOptions = {}): Promise<SqlServer> {
  const given = process.env.MYSQL_URL || process.env.HEADGATE_TESTS_MYSQL_URL // the latter is shared by a run
  return given && !own ? useGivenSql(given, GIVER, runSql) : startOwn(args)
}

async function startOwn(args: readonly string[]): Promise<SqlServer> {
  const program = await findMariadb('mariadbd')
  const installer = await findMariadb('mariadb-install-db')
  const user = await serviceUser('mysql')
  const password = freshPassword()
  const urlOf = ({ port }: Place) => `mysql://headgate:${password}@${HOST}:${port}/headgate`
  const server = await startProcess({
    name: 'mariadb',
    program,
    user,
    async prepare({ folder }) {
      await layFirstData(folder, {
        program,
        settings: INSTALL_OPTIONS,
        files: [DATA],
        make: () => run(installer, [...livesIn(folder), ...INSTALL_OPTIONS], { cwd: folder, ...user }),
      })
      await writeFile(initFileIn(folder), initFile(password))
    },
    args: (place) => [...listen(place), ...OPTIONS, ...args],
    async ready(place) {
      const [row] = await runSql(urlOf(place), 'SELECT @@datadir AS folder')
      return String(row?.folder).includes(place.folder)
    },
    endSignal: 'SIGKILL', // it would wait for its clients; what was committed is there after a restart
  })
  return withQuery(ownServer(server, urlOf(server)), runSql)
}

function findMariadb(program: 'mariadbd' | 'mariadb-install-db'): Promise<string> {
  return findOrInstall({ program, debianPackage: 'mariadb-server', instead: 'set MYSQL_URL' })
}

const initFileIn = (folder: string) => join(folder, 'init.sql')

/** Its user may not be allowed to write where `TMPDIR` says. */
function livesIn(folder: string): string[] {
  return ['--no-defaults', `--datadir=${join(folder, DATA)}`, `--tmpdir=${folder}`]
}

function listen({ port, folder }: Place): string[] {
  return [
    ...livesIn(folder),
    `--bind-address=${HOST}`,
    `--port=${port}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${initFileIn(folder)}`,
  ]
}

/** The server runs it at every start, before it listens; each statement is one line. */
function initFile(password: string): string {
  return [
    'CREATE DATABASE IF NOT EXISTS headgate;',
    `CREATE USER IF NOT EXISTS headgate@'${HOST}' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO headgate@'${HOST}' WITH GRANT OPTION;`,
    '',
  ].join('\n')
}

const runSql: RunSql = async (url, sql) => {
  const connection = await createConnection({ uri: url, connectTimeout: CONNECT_TIMEOUT_MS })
  try {
    const [rows] = await connection.query(sql)
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
  } finally {
    await connection.end()
  }
}
