import assert from 'node:assert/strict'
import type { Answer, Question } from './cluster-child.js'
import { onRedis } from './harness/bench-servers.js'
import { startChild } from './harness/child.js'
import { medianOf } from './harness/intervals.js'
import { cpuNsOfTree } from './harness/process-cpu.js'
import { type Round, roundsInTurn } from './harness/rounds.js'
import { measureServer, type ServerUsage } from './harness/server-usage.js'
import { printTable, whole } from './harness/table.js'
import { isShort } from './workloads.js'

const ROUNDS = isShort ? 3 : 9
const HEAP_MB = 500
/** Decisions of all processes together, of which half are allowed. */
const DECISIONS = 100_000

const WORKERS = [1, 2, 4] as const
const CONTENDERS = {
  'memory, one process': ['memory', 0],
  'node:cluster, 1 worker': ['node:cluster', 1],
  'node:cluster, 2 workers': ['node:cluster', 2],
  'node:cluster, 4 workers': ['node:cluster', 4],
  'Redis, 1 process': ['Redis', 1],
  'Redis, 2 processes': ['Redis', 2],
  'Redis, 4 processes': ['Redis', 4],
} as const
type Name = keyof typeof CONTENDERS

interface Figures {
  readonly perSecond: number
  /** CPU of all processes, with the primary and Redis. */
  readonly cpuUs: number
}

/** Limiters of `clusterStore` against one in memory and against Redis, each round in fresh processes. */
export async function benchCluster(): Promise<void> {
  const rounds = await onRedis(({ url, empty, usage }) => {
    const round =
      (name: Name): Round<Figures> =>
      async () => {
        await empty()
        return freshRound(name, url, usage)
      }
    const names = Object.keys(CONTENDERS) as Name[]
    const contenders = Object.fromEntries(names.map((name) => [name, round(name)]))
    return roundsInTurn<Name, Figures>(contenders as Record<Name, Round<Figures>>, ROUNDS)
  })
  print(rounds)
}

async function freshRound(name: Name, url: string, usage: () => Promise<ServerUsage>): Promise<Figures> {
  const [store, workers] = CONTENDERS[name]
  const child = startChild(
    new URL('./cluster-child.ts', import.meta.url),
    [store, `${workers}`, url],
    HEAP_MB,
  )
  try {
    const ask = (question: Question) => child.ask<Answer>(question)
    await ask({ do: 'warmUp' })
    const pid = child.process.pid ?? 0
    const used = await measureServer(usage)
    const cpuBeforeNs = cpuNsOfTree(pid)
    const { wallNs, allowed, denied } = await ask({ do: 'round' })
    const cpuNs = cpuNsOfTree(pid) - cpuBeforeNs + (await used()).serverCpuNs
    assert.equal(allowed + denied, DECISIONS, `${name}: not every charge was decided`)
    assert.equal(allowed, DECISIONS / 2, `${name}: the limits were not kept exactly`)
    return { perSecond: (DECISIONS / wallNs) * 1e9, cpuUs: cpuNs / DECISIONS / 1000 }
  } finally {
    await child.end()
  }
}

/** Prints a median, and the interval in which it lies with a probability of 95 %. */
function spread(values: readonly number[], show: (value: number) => string): [string, string] {
  const { median, low, high } = medianOf(values)
  return [show(median), `${show(low)} to ${show(high)}`]
}

function print(rounds: Readonly<Record<Name, readonly Figures[]>>): void {
  const inAll = `${whole(DECISIONS)} decisions of 200 callers in all, ${ROUNDS} rounds of fresh processes`
  printTable(
    `node:cluster: ${inAll}; CPU of all processes, with the primary and Redis`,
    ['contender', 'decisions/s', '95 %', 'CPU µs', 'CPU 95 %'],
    Object.entries(rounds).map(([name, figures]) => [
      name,
      ...spread(
        figures.map(({ perSecond }) => perSecond),
        whole,
      ),
      ...spread(
        figures.map(({ cpuUs }) => cpuUs),
        (us) => us.toFixed(2),
      ),
    ]),
  )
  const times = (value: number) => `${value.toFixed(2)}x`
  const cells = (own: Name, other: Name) => {
    const ratios = (better: (own: Figures, other: Figures) => number) =>
      spread(
        rounds[own].map((figures, i) => better(figures, rounds[other][i] as Figures)),
        times,
      )
    const speed = ratios((one, two) => one.perSecond / two.perSecond)
    return [...speed, ...ratios((one, two) => two.cpuUs / one.cpuUs)]
  }
  printTable(
    'node:cluster against others in the same rounds: above 1x, node:cluster is better',
    ['workers', 'against', 'decisions/s', '95 %', 'CPU', 'CPU 95 %'],
    WORKERS.flatMap((workers) => {
      const own: Name = workers === 1 ? 'node:cluster, 1 worker' : `node:cluster, ${workers} workers`
      const redis: Name = workers === 1 ? 'Redis, 1 process' : `Redis, ${workers} processes`
      return [
        [`${workers}`, 'memory, one process', ...cells(own, 'memory, one process')],
        [`${workers}`, redis, ...cells(own, redis)],
      ]
    }),
  )
}
