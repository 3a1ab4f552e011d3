import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import { ATTACKED, type AttackedName } from './contenders/attacked.js'
import { startChild } from './harness/child.js'
import { keepPlot } from './harness/keep-plot.js'
import { barPlot } from './harness/plot.js'
import { readRedisUsage } from './harness/redis-usage.js'
import { takeTurns } from './harness/rounds.js'
import { measureServer, type ServerUsage } from './harness/server-usage.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'

/** Who attacks, and for how long in a round. */
export interface AttackSettings {
  readonly clients: number
  readonly callers: number
  readonly limit: number
  readonly roundMs: number
}

/** What a round took in a contender's process. */
export interface AttackRound extends Usage {
  readonly decisions: number
}

type Figures = AttackRound & ServerUsage

const SETTINGS: AttackSettings = { clients: 1000, callers: 200, limit: 5, roundMs: 1500 }
const ROUNDS = 5
const HEAP_MB = 500
/** Of one decision, with denials that are known. */
const MOST_ROUND_TRIPS = 0.01

/** Clients over their limit that keep sending, on Redis: each contender in its own process, in turns. */
export async function benchAttack(): Promise<void> {
  const server = await startRedis({ own: true })
  const watcher = new Redis(server.url)
  try {
    const results = await compare(server.url, watcher)
    print(results)
    await keepPlot('attack', () => plot(results))
  } finally {
    watcher.disconnect()
    await server.stop()
  }
}

async function compare(url: string, watcher: Redis): Promise<Record<AttackedName, Figures>> {
  const names = Object.keys(ATTACKED) as AttackedName[]
  const module = new URL('./attack-child.ts', import.meta.url)
  const children = names.map((name) => {
    return { name, child: startChild(module, [name, url, JSON.stringify(SETTINGS)], HEAP_MB) }
  })
  try {
    for (const { child } of children) await child.ask({ do: 'fill' })
    return await takeTurns<AttackedName, Figures>(
      Object.fromEntries(
        children.map(({ name, child }) => [
          name,
          async () => {
            const used = await measureServer(() => readRedisUsage(watcher))
            return { ...(await child.ask<AttackRound>({ do: 'round' })), ...(await used()) }
          },
        ]),
      ) as Record<AttackedName, () => Promise<Figures>>,
      ROUNDS,
    )
  } finally {
    await Promise.all(children.map(({ child }) => child.end()))
  }
}

function plot(results: Record<AttackedName, Figures>): Promise<string> {
  return barPlot({
    title: `Redis under attack: ${whole(SETTINGS.clients)} clients over their limit`,
    unit: 'µs of CPU in the process and in Redis for a denial, less is better',
    bars: Object.entries(results).map(([label, { cpuNs, serverCpuNs, decisions }]) => {
      return { label, value: (cpuNs + serverCpuNs) / decisions / 1000 }
    }),
  })
}

function print(results: Record<AttackedName, Figures>): void {
  const { clients, callers, limit, roundMs } = SETTINGS
  const { headgate } = results
  const perDecision = (figures: Figures, figure: 'wallNs' | 'cpuNs' | 'serverCpuNs' | 'requests') =>
    figures[figure] / figures.decisions
  const rows = Object.entries(results).map(([name, figures]) => [
    name,
    whole((figures.decisions / figures.wallNs) * 1e9),
    (perDecision(figures, 'cpuNs') / 1000).toFixed(2),
    (perDecision(figures, 'serverCpuNs') / 1000).toFixed(3),
    perDecision(figures, 'requests').toFixed(5),
    name === 'headgate' ? '-' : ratio(perDecision(headgate, 'wallNs'), perDecision(figures, 'wallNs')),
  ])
  printTable(
    `Redis under attack: ${whole(clients)} clients over their limit of ${limit}, ${callers} callers in one process, ` +
      `rounds of ${roundMs / 1000} s, ${ROUNDS} rounds, medians`,
    ['contender', 'denials/s', 'client µs', 'Redis µs', 'round trips', '/ headgate'],
    rows,
  )
  const trips = perDecision(headgate, 'requests')
  const verdict = trips < MOST_ROUND_TRIPS ? 'reached' : 'NOT reached'
  console.log(`\n  round trips for a decision, at most ${MOST_ROUND_TRIPS}: ${trips.toFixed(5)}, ${verdict}`)
}
