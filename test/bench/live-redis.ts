import type { LiveLimiterName } from './contenders/live-limiters.js'
import { onRedis } from './harness/bench-servers.js'
import { medians } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import { limiterSetups } from './live.js'
import { type ServedOn, serveOn } from './live-server.js'

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
  const served = await onRedis((redis) => {
    const setups = limiterSetups('allowed, 10,000 clients', NAMES, {
      atATime: AT_A_TIME,
      redisUrl: redis.url,
    })
    return serveOn(redis, setups, PROCESSES, REQUESTS)
  })
  print(new Map(Array.from(served, ([name, each]) => [name, medians(each.map(figuresOf))])))
}

function figuresOf({ cpuNs, wallNs, latenciesMs, serverCpuNs }: ServedOn): Figures {
  const sorted = latenciesMs.toSorted()
  const count = sorted.length
  return {
    perSecond: (count * 1e9) / wallNs,
    serverCpuUs: cpuNs / count / 1000,
    redisCpuUs: serverCpuNs / count / 1000,
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
