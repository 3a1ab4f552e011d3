import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import { HOT_KEY_CONTENDERS, type HotKeyName, type Limit } from './contenders/leased-stores.js'
import { type Child, startChild } from './harness/child.js'
import { readRedisUsage } from './harness/redis-usage.js'
import { type Round, takeTurns } from './harness/rounds.js'
import { measureServer, type ServerUsage } from './harness/server-usage.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'
import type { Counts, Question } from './lease-child.js'

const HEAP_MB = 1000
const CALLERS = 200
const ROUNDS = 5
/** A round of either kind takes about a second. */
const DECISIONS = { leased: 1_000_000, direct: 30_000 } as const
const NAMES = Object.keys(HOT_KEY_CONTENDERS) as HotKeyName[]
const PEERS = ['rate-limit-redis', 'rate-limiter-flexible'] as const
const LEASED = [
  'headgate, leased token bucket',
  'headgate, leased fixed window',
  'headgate, leased store',
] as const
const GOAL = 20

const ENDLESS: Limit = { units: 100_000_000, windowMs: 3650 * 86_400_000, processes: 8 }
const API: Limit = { units: 50_000, windowMs: 1000, processes: 4 }
const OVERLOAD_MS = 3000
/** Until the bucket is full again and all blocks have expired. */
const REFILLED_MS = 1500

type Figures = Usage & ServerUsage

/**
 * Measures one hot key on Redis: in one process with a limit that is never reached, and in four processes
 * that share an API's limit.
 */
export async function benchLease(): Promise<void> {
  const server = await startRedis({ own: true })
  const watcher = new Redis(server.url)
  try {
    await benchOneProcess(server.url, watcher)
    await benchFourProcesses(server.url, watcher)
  } finally {
    watcher.disconnect()
    await server.stop()
  }
}

const startContender = (name: HotKeyName, url: string, limit: Limit) =>
  startChild(new URL('./lease-child.ts', import.meta.url), [name, url, JSON.stringify(limit)], HEAP_MB)
const ask = <Answer>(child: Child, question: Question) => child.ask<Answer>(question)
const isLeased = (name: HotKeyName) => (LEASED as readonly string[]).includes(name)
const decisionsOf = (name: HotKeyName) => DECISIONS[isLeased(name) ? 'leased' : 'direct']

async function benchOneProcess(url: string, watcher: Redis): Promise<void> {
  const results = {} as Record<HotKeyName, Figures>
  const startMs = performance.now()
  const children = new Map(NAMES.map((name) => [name, startContender(name, url, ENDLESS)]))
  try {
    const rounds = NAMES.map((name): [HotKeyName, Round<Figures>] => [
      name,
      () => round(name, children.get(name) as Child, watcher),
    ])
    for (const [, run] of rounds) await run() // warms up the compiler
    Object.assign(
      results,
      await takeTurns(Object.fromEntries(rounds) as Record<HotKeyName, Round<Figures>>, ROUNDS),
    )
    for (const [name, child] of children) {
      const left = await ask<number>(child, { do: 'end' })
      checkCount(name, ENDLESS.units - left - (ROUNDS + 1) * decisionsOf(name), performance.now() - startMs)
    }
  } finally {
    for (const child of children.values()) await child.end()
  }
  printOneProcess(results)
}

/**
 * Asserts that the store counted what was used: exactly for windows. A bucket has been refilled a little,
 * and its leased units are not returned while less than an eighth is missing.
 */
function checkCount(name: HotKeyName, unused: number, elapsedMs: number): void {
  const isBucket = name.endsWith('token bucket')
  const refilled = isBucket ? Math.ceil((elapsedMs * ENDLESS.units) / ENDLESS.windowMs) : 0
  const kept = isBucket && isLeased(name) ? ENDLESS.units / 8 : 0
  assert.ok(unused >= -refilled && unused <= kept, `${name}: ${unused} units were miscounted`)
}

async function round(name: HotKeyName, child: Child, watcher: Redis): Promise<Figures> {
  const decisions = decisionsOf(name)
  const used = await measureServer(() => readRedisUsage(watcher))
  const { wallNs, cpuNs, allowed, denied } = await ask<Counts>(child, {
    do: 'decide',
    callers: CALLERS,
    decisions,
  })
  assert.deepEqual(
    { allowed, denied },
    { allowed: decisions, denied: 0 },
    `${name}: charges below the limit were denied`,
  )
  const { serverCpuNs, requests, commandNs } = await used()
  const each = (total: number) => total / decisions
  return {
    wallNs: each(wallNs),
    cpuNs: each(cpuNs),
    serverCpuNs: each(serverCpuNs),
    requests: each(requests),
    commandNs: each(commandNs),
  }
}

function printOneProcess(results: Record<HotKeyName, Figures>): void {
  const better = Math.min(...PEERS.map((peer) => results[peer].wallNs))
  printTable(
    `One hot key on Redis, ${CALLERS} callers in one process, ${ROUNDS} rounds, medians; a store is called as the peers are, all else through a limiter; against a peer: decisions a second`,
    ['contender', 'decisions/s', 'client µs', 'Redis µs', 'requests', ...PEERS.map((peer) => `${peer} /`)],
    NAMES.map((name) => {
      const { wallNs, cpuNs, serverCpuNs, requests } = results[name]
      const against = PEERS.map((peer) => (name === peer ? '-' : ratio(wallNs, results[peer].wallNs)))
      const micros = [cpuNs, serverCpuNs].map((ns) => (ns / 1000).toFixed(3))
      return [name, whole(1e9 / wallNs), ...micros, requests.toFixed(5), ...against]
    }),
  )
  const times = LEASED.map(
    (name) => `${name.replace('headgate, ', '')} ${ratio(results[name].wallNs, better)}`,
  )
  const isReached = LEASED.every((name) => better / results[name].wallNs >= GOAL)
  console.log(
    `\n  Goal: ${GOAL} times the better peer: ${times.join(', ')}; ${isReached ? 'reached' : 'NOT reached'}`,
  )
}

async function benchFourProcesses(url: string, watcher: Redis): Promise<void> {
  const rows: string[][] = []
  for (const name of ['headgate, leased token bucket', 'headgate, token bucket', ...PEERS] as const) {
    rows.push(await overloadFour(name, url, watcher))
  }
  printTable(
    `${whole(API.units)} a second over ${API.processes} processes, as many as ${CALLERS} callers in each can charge in ${OVERLOAD_MS / 1000} s`,
    [
      'contender',
      'decisions/s',
      'admitted',
      'most',
      'over',
      'of the limit',
      'client µs',
      'Redis µs',
      'requests',
    ],
    rows,
  )
}

async function overloadFour(name: HotKeyName, url: string, watcher: Redis): Promise<string[]> {
  await watcher.flushall()
  const children = Array.from({ length: API.processes }, () => startContender(name, url, API))
  try {
    await overload(children, 1000) // warms up the compiler
    await setTimeout(REFILLED_MS)
    const used = await measureServer(() => readRedisUsage(watcher))
    const sinceMs = await timeOf(watcher)
    const counts = await overload(children, OVERLOAD_MS)
    const elapsedMs = (await timeOf(watcher)) - sinceMs
    const { serverCpuNs, requests } = await used()
    const sum = (figure: keyof Counts) => counts.reduce((total, each) => total + each[figure], 0)
    const [admitted, decisions] = [sum('allowed'), sum('allowed') + sum('denied')]
    const most = API.units + Math.floor((elapsedMs * API.units) / API.windowMs)
    const over = Math.max(0, admitted - most)
    if (name.startsWith('headgate')) assert.equal(over, 0, `${name}: more than the limit was admitted`)
    return [
      name,
      whole(decisions / (OVERLOAD_MS / 1000)),
      ...[admitted, most, over].map(whole),
      `${((100 * admitted) / most).toFixed(2)} %`,
      (sum('cpuNs') / decisions / 1000).toFixed(2),
      (serverCpuNs / decisions / 1000).toFixed(3),
      (requests / decisions).toFixed(5),
    ]
  } finally {
    for (const child of children) await child.end()
  }
}

const overload = (children: readonly Child[], forMs: number) =>
  Promise.all(children.map((child) => ask<Counts>(child, { do: 'overload', callers: CALLERS, forMs })))

async function timeOf(watcher: Redis): Promise<number> {
  const [seconds, microseconds] = await watcher.time()
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}
