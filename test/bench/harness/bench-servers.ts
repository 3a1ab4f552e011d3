import { Redis } from 'ioredis'
import { startMariadb } from '../../support/servers/mariadb.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { startRedis } from '../../support/servers/redis.js'
import { readMemcachedUsage } from './memcached-usage.js'
import { readRedisUsage } from './redis-usage.js'
import type { ServerUsage } from './server-usage.js'
import { type SqlWatcher, watchMariadb, watchPostgres } from './sql-usage.js'

/** A server of its own for a benchmark, and an observer that does not show in what it counts. */
export interface BenchServer {
  readonly url: string
  /** The URL of one of the server's databases, if it has several. */
  databaseUrl?(index: number): string
  pid(): number | undefined
  /** Removes all that it holds. */
  empty(): Promise<unknown>
  /** What it has done so far. */
  usage(): Promise<ServerUsage>
}

type Use<T> = (server: BenchServer) => Promise<T>

/** Starts a Redis, and stops it after its use. */
export async function onRedis<T>(use: Use<T>): Promise<T> {
  const server = await startRedis({ own: true })
  const watcher = new Redis(server.url)
  try {
    return await use({
      url: server.url,
      databaseUrl: (index) => `${server.url}/${index}`,
      pid: () => server.pid,
      empty: () => watcher.flushall(),
      usage: () => readRedisUsage(watcher),
    })
  } finally {
    watcher.disconnect()
    await server.stop()
  }
}

/** Starts a memcached, and stops it after its use. */
export async function onMemcached<T>(use: Use<T>): Promise<T> {
  const server = await startMemcached({ own: true })
  try {
    return await use({
      url: server.url,
      pid: () => server.pid,
      empty: () => server.command('flush_all'),
      usage: () => readMemcachedUsage(server),
    })
  } finally {
    await server.stop()
  }
}

/** Starts a MariaDB, and stops it after its use. */
export const onMariadb = <T>(use: Use<T>) => onDatabase(startMariadb, watchMariadb, use)

/** Starts a PostgreSQL, and stops it after its use. */
export const onPostgres = <T>(use: Use<T>) => onDatabase(startPostgres, watchPostgres, use)

async function onDatabase<T>(
  start: typeof startMariadb | typeof startPostgres,
  watch: typeof watchMariadb,
  use: Use<T>,
): Promise<T> {
  const server = await start({ own: true })
  let watcher: SqlWatcher | undefined
  try {
    watcher = await watch(server)
    return await use({ url: server.url, pid: () => server.pid, ...watcher })
  } finally {
    await watcher?.end()
    await server.stop()
  }
}
