import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchAdjust } from './adjust.js'
import { benchAttack } from './attack.js'
import { benchBreaker } from './breaker.js'
import { benchBytes } from './bytes.js'
import { benchCluster } from './cluster.js'
import { benchDashboard } from './dashboard.js'
import { benchDenied } from './denied.js'
import { benchDynamodb } from './dynamodb.js'
import { benchFlood } from './flood.js'
import { benchFrameworks } from './frameworks.js'
import { type Gate, runGate } from './gates/gate.js'
import { GATES } from './gates/gates.js'
import { keepPlotsIn } from './harness/keep-plot.js'
import { benchHostileHeaders } from './hostile-headers.js'
import { benchImport } from './import.js'
import { benchLease } from './lease.js'
import { benchLive, benchLiveLogin } from './live.js'
import { benchListenersProfile, benchLiveProfile } from './live-profile.js'
import { benchLiveRedis } from './live-redis.js'
import { benchLogin } from './login.js'
import { benchMemcached } from './memcached.js'
import { benchMemcachedBytes } from './memcached-bytes.js'
import { benchMemcachedEvictions } from './memcached-evictions.js'
import { benchMemcachedStorm } from './memcached-storm.js'
import { benchMemory } from './memory.js'
import { benchMiddleware } from './middleware.js'
import { benchMysql } from './mysql.js'
import { benchOverload } from './overload.js'
import { benchPostgres } from './postgres.js'
import { benchRedis } from './redis.js'
import { benchRedisBytes } from './redis-bytes.js'
import { benchReplay } from './replay.js'
import { benchRestart } from './restart.js'
import { benchScale } from './scale.js'
import { benchSqlPurge } from './sql-purge.js'

const gateRuns = Object.fromEntries(
  Object.entries<Gate>(GATES).map(([name, gate]) => [name, () => runGate(gate)]),
)

const BENCHMARKS: Readonly<Record<string, () => Promise<void>>> = {
  memory: benchMemory,
  bytes: benchBytes,
  scale: benchScale,
  restart: benchRestart,
  flood: benchFlood,
  middleware: benchMiddleware,
  dashboard: benchDashboard,
  denied: benchDenied,
  'hostile-headers': benchHostileHeaders,
  breaker: benchBreaker,
  login: benchLogin,
  import: benchImport,
  cluster: benchCluster,
  redis: benchRedis,
  adjust: benchAdjust,
  attack: benchAttack,
  'redis-bytes': benchRedisBytes,
  lease: benchLease,
  frameworks: benchFrameworks,
  live: benchLive,
  'live-login': benchLiveLogin,
  'live-listeners': benchListenersProfile,
  'live-profile': benchLiveProfile,
  'live-redis': benchLiveRedis,
  dynamodb: benchDynamodb,
  memcached: benchMemcached,
  'memcached-bytes': benchMemcachedBytes,
  'memcached-evictions': benchMemcachedEvictions,
  'memcached-storm': benchMemcachedStorm,
  mysql: benchMysql,
  'overload-guard': benchOverload,
  postgres: benchPostgres,
  'sql-purge': benchSqlPurge,
  replay: benchReplay,
  ...gateRuns,
}

/**
 * Runs the benchmarks named on the command line, or all; `gates` names all gates. With `--plots`, those that
 * draw their results write them to docs/plots. With `--short`, gates and those of servers take fewer rounds.
 * A wrong count ends it with a message and code 1.
 */
async function main(): Promise<void> {
  const { positionals: names, values } = parseArgs({
    allowPositionals: true,
    options: { plots: { type: 'boolean' }, short: { type: 'boolean' } },
  })
  const chosen = names.length > 0 ? names.flatMap(benchmarksOf) : Object.keys(BENCHMARKS)
  const unknown = chosen.find((name) => !Object.hasOwn(BENCHMARKS, name))
  if (unknown !== undefined) {
    throw new Error(`There is no benchmark ${unknown}. There are: ${Object.keys(BENCHMARKS).join(', ')}.`)
  }
  if (values.plots) keepPlotsIn(fileURLToPath(new URL('../../docs/plots', import.meta.url)))
  console.log(`Node ${process.version} on ${cpus()[0]?.model ?? 'an unknown CPU'}, ${cpus().length} cores`)
  for (const name of chosen) await BENCHMARKS[name]?.()
}

function benchmarksOf(name: string): string[] {
  return name === 'gates' ? Object.keys(gateRuns) : [name]
}

main().catch((error: unknown) => {
  console.error(`\nbench: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})
