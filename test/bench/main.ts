import { cpus } from 'node:os'
import { benchBreaker } from './breaker.js'
import { benchBytes } from './bytes.js'
import { benchLogin } from './login.js'
import { benchMemcached } from './memcached.js'
import { benchMemcachedBytes } from './memcached-bytes.js'
import { benchMemcachedEvictions } from './memcached-evictions.js'
import { benchMemcachedStorm } from './memcached-storm.js'
import { benchMemory } from './memory.js'
import { benchMiddleware } from './middleware.js'
import { benchMysql } from './mysql.js'
import { benchPostgres } from './postgres.js'
import { benchRedis } from './redis.js'
import { benchRedisBytes } from './redis-bytes.js'
import { benchSqlPurge } from './sql-purge.js'

const BENCHMARKS: Readonly<Record<string, () => Promise<void>>> = {
  memory: benchMemory,
  bytes: benchBytes,
  middleware: benchMiddleware,
  breaker: benchBreaker,
  login: benchLogin,
  redis: benchRedis,
  'redis-bytes': benchRedisBytes,
  memcached: benchMemcached,
  'memcached-bytes': benchMemcachedBytes,
  'memcached-evictions': benchMemcachedEvictions,
  'memcached-storm': benchMemcachedStorm,
  mysql: benchMysql,
  postgres: benchPostgres,
  'sql-purge': benchSqlPurge,
}

/** Runs the benchmarks named on the command line, or all. A wrong count ends it with a message and code 1. */
async function main(names: readonly string[]): Promise<void> {
  const chosen = names.length > 0 ? names : Object.keys(BENCHMARKS)
  const unknown = chosen.find((name) => !Object.hasOwn(BENCHMARKS, name))
  if (unknown !== undefined) {
    throw new Error(`There is no benchmark ${unknown}. There are: ${Object.keys(BENCHMARKS).join(', ')}.`)
  }
  console.log(`Node ${process.version} on ${cpus()[0]?.model ?? 'an unknown CPU'}, ${cpus().length} cores`)
  for (const name of chosen) await BENCHMARKS[name]?.()
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`\nbench: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})
