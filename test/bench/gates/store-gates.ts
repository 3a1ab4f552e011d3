import { type Contest, measureStores } from '../compare-stores.js'
import type { LONE_OPERATIONS } from '../contenders/lone-operations.js'
import type { MEMCACHED_GATED, MemcachedStoreName } from '../contenders/memcached-stores.js'
import type { MysqlStoreName, TWO_MYSQL_LIMITS } from '../contenders/mysql-stores.js'
import type { PostgresStoreName, TWO_POSTGRES_LIMITS } from '../contenders/postgres-stores.js'
import type { RedisStoreName, TWO_REDIS_LIMITS } from '../contenders/redis-stores.js'
import { onMariadb, onMemcached, onPostgres, onRedis } from '../harness/bench-servers.js'
import { OWN_COMMITS } from '../postgres.js'
import type { Figures } from '../server-tables.js'
import { isShort, type TimedWorkload } from '../workloads.js'
import type { Gate, Goal, Sample, Samples } from './gate.js'

/** Each starts with a fresh connection, and is compiled anew. */
const PROCESSES = isShort ? 2 : 5
const ROUNDS = isShort ? 5 : 9

/** Contenders on a server of one kind. */
interface Arena<Name extends string> {
  readonly server: string
  readonly on: typeof onRedis
  readonly child: URL
  readonly decisions: number
  /** How many requests one decision with one limit takes of a peer, where that is certain. */
  readonly peerRequests: number
  readonly ownRequests?: number
  readonly names?: readonly Name[]
}

const child = (server: string) => new URL(`../${server}-child.ts`, import.meta.url)

const REDIS: Arena<RedisStoreName | keyof typeof TWO_REDIS_LIMITS | keyof typeof LONE_OPERATIONS> = {
  server: 'Redis',
  on: onRedis,
  child: child('redis'),
  decisions: 100_000,
  peerRequests: 1,
}
const MEMCACHED: Arena<MemcachedStoreName | keyof typeof MEMCACHED_GATED> = {
  server: 'memcached',
  on: onMemcached,
  child: child('memcached'),
  decisions: 20_000,
  peerRequests: 2,
}
const MARIADB: Arena<MysqlStoreName | keyof typeof TWO_MYSQL_LIMITS> = {
  server: 'MariaDB',
  on: onMariadb,
  child: child('mysql'),
  decisions: isShort ? 2_000 : 10_000,
  peerRequests: 4,
}
const POSTGRES: Arena<PostgresStoreName | keyof typeof TWO_POSTGRES_LIMITS> = {
  server: 'PostgreSQL',
  on: onPostgres,
  child: child('postgres'),
  decisions: isShort ? 2_000 : 10_000,
  peerRequests: 1,
  ownRequests: OWN_COMMITS,
}

/** 200 callers of one process, with 10,000 keys where a round has as many decisions. */
function busy<Name extends string>(
  arena: Arena<Name>,
  what: string,
  names: readonly NoInfer<Name>[],
  goals: readonly Goal<NoInfer<Name>>[],
): Gate<Name> {
  const { decisions } = arena
  const workload = {
    callers: 200,
    keys: Math.min(decisions, 10_000),
    decisions,
    limit: 10_000,
    rounds: ROUNDS,
  }
  return storeGate(arena, `${what}, 200 callers`, workload, names, goals)
}

/** One caller, which requests a decision once it has the last one. */
function lone<Name extends string>(
  arena: Arena<Name>,
  what: string,
  names: readonly NoInfer<Name>[],
  goals: readonly Goal<NoInfer<Name>>[],
): Gate<Name> {
  const decisions = 500
  const rounds = isShort ? 15 : 35
  const workload = { callers: 1, keys: decisions, decisions, limit: 10_000, rounds }
  return storeGate(arena, `${what}, one caller`, workload, names, goals)
}

function storeGate<Name extends string>(
  arena: Arena<Name>,
  title: string,
  workload: TimedWorkload,
  names: readonly Name[],
  goals: readonly Goal<Name>[],
): Gate<Name> {
  const { server, on, child, peerRequests, ownRequests = 0 } = arena
  const requestsPerDecision = (name: Name) => {
    if (!name.startsWith('rate-limit')) return undefined
    return name.includes(', two') ? 2 * peerRequests : peerRequests
  }
  async function measure(): Promise<Samples<Name>> {
    return on(async (started) => {
      const contest: Contest<Name> = { ...started, names, child, requestsPerDecision, ownRequests }
      const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>
      for (let i = 0; i < PROCESSES; i++) {
        const measured = await measureStores(contest, workload)
        for (const name of names) {
          samples[name].push(...measured[name].map((figures) => sampleOf(figures, workload, server)))
        }
      }
      return samples
    })
  }
  return { title: `${server}: ${title}`, goals, measure }
}

function sampleOf(figures: Figures, { callers, decisions }: TimedWorkload, server: string): Sample {
  const us = (ns: number) => ns / decisions / 1000
  const { wallNs, cpuNs, serverCpuNs, commandNs, medianNs } = figures
  return {
    ...(callers === 1 ? { 'median µs': medianNs / 1000 } : { 'decisions/s': (decisions / wallNs) * 1e9 }),
    'client µs': us(cpuNs),
    [`${server} µs`]: us(serverCpuNs),
    ...(commandNs > 0 && { 'its commands µs': us(commandNs) }),
  }
}

const [WINDOWS, BUCKETS] = ['headgate, limiter', 'headgate, limiter with a bucket'] as const
const FREE = 'rate-limiter-flexible'
const TWO_FREE = 'rate-limiter-flexible, two calls'
const TWO = 'headgate, two limits'

/** A goal for the decisions a second against some peers. */
const speed = <Name extends string>(of: Name, atLeast: number, ...peers: Name[]): Goal<Name> => ({
  of,
  peers,
  figure: 'decisions/s',
  atLeast,
})

/** A goal for a figure that is the better the less it is. */
const cost = <Name extends string>(
  of: Name,
  figure: string,
  atMost: number,
  ...peers: Name[]
): Goal<Name> => ({ of, peers, figure, atMost })

/** The gates on servers, by name. */
export const STORE_GATES = {
  'gate-redis-one': busy(
    REDIS,
    'one limit',
    ['headgate, limiter', 'headgate, limiter on redis 6', 'rate-limit-redis', FREE],
    [
      speed('headgate, limiter', 2.5, 'rate-limit-redis'),
      cost('headgate, limiter', 'client µs', 0.4, 'rate-limit-redis'),
      cost('headgate, limiter', 'Redis µs', 0.35, 'rate-limit-redis'),
      speed('headgate, limiter on redis 6', 2, 'rate-limit-redis'),
    ],
  ),
  'gate-redis-two': busy(
    REDIS,
    'two limits',
    [
      TWO,
      'headgate, two limits on redis 6',
      'headgate, two limiters',
      'rate-limit-redis, two stores',
      TWO_FREE,
    ],
    [
      speed(TWO, 1.5, 'rate-limit-redis, two stores'),
      cost(TWO, 'Redis µs', 0.6, 'rate-limit-redis, two stores'),
    ],
  ),
  'gate-redis-alone': lone(
    REDIS,
    'operations alone',
    ['one charge', 'one charge of two limits', 'one refund', 'one release', 'one forget'],
    [
      cost('one refund', 'its commands µs', 1.3, 'one charge'),
      cost('one release', 'its commands µs', 1.3, 'one charge'),
      cost('one forget', 'its commands µs', 1.3, 'one charge'),
    ],
  ),
  'gate-redis-lone': lone(
    REDIS,
    'one limit',
    ['headgate, limiter', 'headgate, limiter on redis 6', 'rate-limit-redis', FREE],
    [cost('headgate, limiter', 'median µs', 1.1, 'rate-limit-redis', FREE)],
  ),
  'gate-memcached-one': busy(
    MEMCACHED,
    'one limit',
    [WINDOWS, BUCKETS, 'rate-limit-memcached', FREE],
    [speed(WINDOWS, 2.5, 'rate-limit-memcached'), speed(BUCKETS, 2, 'rate-limit-memcached')],
  ),
  'gate-memcached-two': busy(
    MEMCACHED,
    'two limits',
    ['headgate, two windows', 'headgate, two buckets', 'rate-limit-memcached, two stores', TWO_FREE],
    [
      speed('headgate, two windows', 2.5, 'rate-limit-memcached, two stores'),
      speed('headgate, two buckets', 2, 'rate-limit-memcached, two stores'),
    ],
  ),
  'gate-mysql-one': busy(
    MARIADB,
    'one limit',
    ['headgate, limiter', FREE],
    [speed('headgate, limiter', 8, FREE)],
  ),
  'gate-mysql-two': busy(MARIADB, 'two limits', [TWO, TWO_FREE], [speed(TWO, 8, TWO_FREE)]),
  'gate-postgres-one': busy(
    POSTGRES,
    'one limit',
    ['headgate, limiter', FREE],
    [speed('headgate, limiter', 4, FREE)],
  ),
  'gate-postgres-two': busy(POSTGRES, 'two limits', [TWO, TWO_FREE], [speed(TWO, 4, TWO_FREE)]),
  'gate-postgres-lone': lone(
    POSTGRES,
    'one limit',
    ['headgate, limiter', FREE],
    [cost('headgate, limiter', 'median µs', 1.1, FREE)],
  ),
} as const
