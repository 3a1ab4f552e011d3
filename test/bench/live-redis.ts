import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import type { LiveLimiterName } from './contenders/live-limiters.js'
import { readRedisUsage } from './harness/redis-usage.js'
import { medians, rotated } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import { limiterSetups } from './live.js'
import { type Served, serveInTurn } from './live-server.js'

const NAMES = [
  'nothing',
  'headgate, legacy',
  'headgate on redis 6, legacy',
  'express-rate-limit, legacy',
  'rate-limiter-flexible, legacy',
] as const satisfies readonly LiveLimiterName[]
const PROCESSES = 9
const REQUESTS = 20_000
const AT_A_TIME = 200

/** What a process took for each request. */
interface Figures {
  readonly perSecond: number
  readonly serverCpuUs: number
  readonly redisCpuUs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** A limiter on Redis in a live Express server: throughput, CPU of the server and of Redis, and latency. */
export async function benchLiveRedis(): Promise<void> {
  const redis = await startRedis({ own: true })
  const watcher = new Redis(redis.url)
  const all = new Map<string, Figures[]>(NAMES.map((name) => [name, []]))
  try {
    for (let i = 0; i < PROCESSES; i++) {
      await watcher.flushall()
      await runProcesses(rotated(NAMES, i), redis.url, watcher, (name, figures) =>
        all.get(name)?.push(figures),
      )
    }
  } finally {
    watcher.disconnect()
    await redis.stop()
  }
  print(new Map(Array.from(all, ([name, each]) => [name, medians(each)])))
}

async function runProcesses(
  names: readonly LiveLimiterName[],
  redisUrl: string,
  watcher: Redis,
  use: (name: string, figures: Figures) => void,
): Promise<void> {
  const redisCpuNs = async () => (await readRedisUsage(watcher)).serverCpuNs
  let before = 0
  await serveInTurn(
    limiterSetups('allowed, 10,000 clients', names, { atATime: AT_A_TIME, redisUrl }),
    REQUESTS,
    async (name, served) => use(name, figuresOf(served, (await redisCpuNs()) - before)),
    async () => {
      before = await redisCpuNs()
    },
  )
}

function figuresOf({ cpuNs, wallNs, latenciesMs }: Served, redisCpuNs: number): Figures {
  const sorted = latenciesMs.toSorted()
  const count = sorted.length
  return {
    perSecond: (count * 1e9) / wallNs,
    serverCpuUs: cpuNs / count / 1000,
    redisCpuUs: redisCpuNs / count / 1000,
    p50Ms: sorted[Math.floor(count * 0.5)] as number,
    p99Ms: sorted[Math.floor(count * 0.99)] as number,
  }
}

function print(figures: ReadonlyMap<string, Figures>): void {
  const nothing = figures.get('nothing') as Figures
  const rows = Array.from(figures, ([name, { perSecond, serverCpuUs, redisCpuUs, p50Ms, p99Ms }]) => [
    name,
    whole(perSecond),
    serverCpuUs.toFixed(1),
    (serverCpuUs - nothing.serverCpuUs).toFixed(1),
    redisCpuUs.toFixed(1),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
  ])
  printTable(
    `Live on Redis, 10,000 clients, ${AT_A_TIME} requests at a time: ${PROCESSES} processes each, medians`,
    ['contender', 'a second', 'server CPU µs', 'above nothing', 'Redis CPU µs', 'p50 ms', 'p99 ms'],
    rows,
  )
}
