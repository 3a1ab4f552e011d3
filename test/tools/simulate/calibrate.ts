import { fixedWindow, type Policy, type Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Client } from 'memjs'
import { Pool } from 'pg'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { readMemcachedUsage } from '../../bench/harness/memcached-usage.js'
import { readRedisUsage } from '../../bench/harness/redis-usage.js'
import { takeTurns } from '../../bench/harness/rounds.js'
import { measureServer, type ServerUsage } from '../../bench/harness/server-usage.js'
import { watchPostgres } from '../../bench/harness/sql-usage.js'
import { startMemcached } from '../../support/servers/memcached.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { startRedis } from '../../support/servers/redis.js'
import { chargeStore } from '../../support/store-calls.js'
import { type Costs, costsFrom, type Measured, type StoreKind } from './costs.js'

/** A real server, with stores that have a connection each. */
interface Target {
  readonly stores: readonly Store[]
  usage(): Promise<ServerUsage>
  close(): Promise<void>
}

/** Returns charges that make one request. */
type Pattern = () => readonly Parts[]

/** CPU of the server for a request, in microseconds. */
interface RoundUsage {
  readonly us: number
}

const STORES = 8
/** As many as a batcher does not split. */
const SIZE = 16
const KEYS = 10_000
const ROUNDS = 7
const ROUND_MS = 400

const WINDOW = policyOf(1)
const POLICIES = Array.from({ length: SIZE }, (_, i) => policyOf(i + 2))

function policyOf(number: number): Policy {
  return fixedWindow({ limit: 1_000_000 + number, window: '1d' })
}

const TARGETS: Readonly<Record<StoreKind, () => Promise<Target>>> = {
  async redis() {
    const server = await startRedis({ own: true })
    const watcher = new Redis(server.url)
    const clients = perStore(() => new Redis(server.url, { autoResendUnfulfilledCommands: false }))
    return {
      stores: clients.map(redisStore),
      usage: () => readRedisUsage(watcher),
      async close() {
        for (const client of [watcher, ...clients]) client.disconnect()
        await server.stop()
      },
    }
  },
  async memcached() {
    const server = await startMemcached({ own: true })
    const clients = perStore(() => Client.create(server.url, { retries: 1 }))
    return {
      stores: clients.map(memcachedStore),
      usage: () => readMemcachedUsage(server),
      async close() {
        for (const client of clients) client.close()
        await server.stop()
      },
    }
  },
  async postgres() {
    const server = await startPostgres({ own: true })
    const watcher = await watchPostgres(server)
    const pools = perStore(() => new Pool({ connectionString: server.url, max: 2 }))
    const stores = pools.map((pool) => postgresStore(pool))
    await stores[0]?.prepare()
    return {
      stores,
      usage: watcher.usage,
      async close() {
        for (const store of stores) await store.close()
        for (const pool of pools) await pool.end()
        await watcher.end()
        await server.stop()
      },
    }
  },
}

function perStore<T>(make: () => T): T[] {
  return Array.from({ length: STORES }, make)
}

/** Measures what work costs the servers of a store, on this machine. */
export async function calibrate(kind: StoreKind): Promise<Costs> {
  const target = await TARGETS[kind]()
  let drawn = 0
  const charge = (policy: Policy = WINDOW): Parts => {
    drawn = (drawn + 1) % KEYS
    return [{ key: `{client-${drawn}}:${policy.limit}`, policy, cost: 1 }]
  }
  const patterns: Record<keyof Measured, Pattern> = {
    lone: () => [charge()],
    hot: () => new Array<Parts>(SIZE).fill(charge()),
    wide: () => Array.from({ length: SIZE }, () => charge()),
    split: () => POLICIES.map((policy) => charge(policy)),
  }
  const rounds = Object.entries(patterns).map(([name, pattern]) => [name, () => runRound(target, pattern)])
  try {
    const { lone, hot, wide, split } = await takeTurns<keyof Measured, RoundUsage>(
      Object.fromEntries(rounds),
      ROUNDS,
    )
    return costsFrom(kind, { lone: lone.us, hot: hot.us, wide: wide.us, split: split.us }, SIZE)
  } finally {
    await target.close()
  }
}

/** Runs charges for a while. Returns the CPU that each request took the server. */
async function runRound({ stores, usage }: Target, charges: Pattern): Promise<RoundUsage> {
  const used = await measureServer(usage)
  const endMs = performance.now() + ROUND_MS
  const sent = stores.map(async (store) => {
    let count = 0
    for (; performance.now() < endMs; count++) await chargeStore(store, charges())
    return count
  })
  const count = (await Promise.all(sent)).reduce((a, b) => a + b)
  return { us: (await used()).serverCpuNs / 1000 / count }
}
