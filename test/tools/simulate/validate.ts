import { Redis } from 'ioredis'
import { startChild } from '../../bench/harness/child.js'
import { readRedisUsage } from '../../bench/harness/redis-usage.js'
import { printTable, whole } from '../../bench/harness/table.js'
import { startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { percent } from './report.js'
import { DEFAULTS, type Scenario } from './scenario.js'
import { simulate } from './simulate.js'
import type { Counts, Question } from './validate-child.js'

/** What is compared: by name, so that it can be printed. */
type Figures = Readonly<Record<string, number>>

const MOST_OFF = 0.1
const HEAP_MB = 512

/** A load that leaves the processors free, with the latency of loopback. */
const COMMON: Scenario = {
  ...DEFAULTS,
  processes: 4,
  rate: 800,
  seconds: 10,
  keys: 200,
  zipf: 1,
  limit: 20,
  window: 2000,
  latency: 0.05,
  p99: 0.5,
  tick: 5, // so that a late timer does not bring requests together that the simulation keeps apart
}

const HOT_KEY = { keys: 1, limit: 500, window: 1000 }

/** What is run for real, and simulated. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'one Redis': COMMON,
  'one Redis, no denial cache': { ...COMMON, 'deny-cache': 0 },
  'one Redis, a hot key over its limit': { ...COMMON, ...HOT_KEY },
  'one Redis, a hot key, leased': { ...COMMON, ...HOT_KEY, lease: true },
  'three nodes': { ...COMMON, nodes: 3 },
  'three nodes, no denial cache': { ...COMMON, nodes: 3, 'deny-cache': 0 },
}

/** Prints real runs beside simulations. Returns whether all figures are within 10 % of one another. */
export async function validate(): Promise<boolean> {
  let isWithin = true
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const simulated = await figuresOf(scenario)
    const real = await runForReal(scenario)
    const rows = Object.entries(real).map(([figure, value]) => {
      const difference = (simulated[figure] as number) / Math.max(1, value) - Math.min(1, value)
      isWithin &&= Math.abs(difference) <= MOST_OFF
      return [figure, whole(value), whole(simulated[figure] as number), percent(difference)]
    })
    const { processes, rate, seconds } = scenario
    const title = `${name}: ${processes} processes, ${rate} requests a second for ${seconds} s`
    printTable(title, ['', 'real', 'simulated', 'difference'], rows)
  }
  console.log(`\n  every difference at most ${percent(MOST_OFF)}: ${isWithin ? 'reached' : 'NOT reached'}`)
  return isWithin
}

async function figuresOf(scenario: Scenario): Promise<Figures> {
  const { admitted, decisions, nodes } = await simulate(scenario)
  return figures(
    { admitted, denied: decisions - admitted },
    nodes.map(({ calls }) => calls),
  )
}

function figures({ admitted, denied }: Counts, calls: readonly number[]): Figures {
  const all = calls.reduce((a, b) => a + b)
  const ofNodes = calls.length === 1 ? [] : calls.map((each, i) => [`calls of node ${i + 1}`, each] as const)
  return { admitted, denied, 'store calls': all, ...Object.fromEntries(ofNodes) }
}

/** Runs a scenario in processes of its own, on servers of its own. */
async function runForReal(scenario: Scenario): Promise<Figures> {
  const { urls, stop } = await startServers(scenario.nodes)
  const watchers = urls.map((url) => new Redis(url))
  const module = new URL('./validate-child.ts', import.meta.url)
  const children = Array.from({ length: scenario.processes }, (_, i) =>
    startChild(module, [JSON.stringify(scenario), String(i), ...urls], HEAP_MB),
  )
  const askAll = (question: Question) => Promise.all(children.map((child) => child.ask<Counts>(question)))
  const callsSoFar = () => Promise.all(watchers.map(async (each) => (await readRedisUsage(each)).requests))
  try {
    await askAll({ do: 'connect' })
    const before = await callsSoFar()
    const counts = await askAll({ do: 'traffic' })
    const after = await callsSoFar()
    const sum = (name: keyof Counts) => counts.reduce((total, each) => total + each[name], 0)
    const calls = after.map((each, i) => each - (before[i] as number))
    return figures({ admitted: sum('admitted'), denied: sum('denied') }, calls)
  } finally {
    await Promise.all(children.map((child) => child.end()))
    for (const watcher of watchers) watcher.disconnect()
    await stop()
  }
}

async function startServers(nodes: number): Promise<{ urls: string[]; stop(): Promise<void> }> {
  if (nodes === 1) {
    const server = await startRedis({ own: true })
    return { urls: [server.url], stop: server.stop }
  }
  const cluster = await startRedisCluster({ nodes })
  return { urls: cluster.nodes.map(({ url }) => url), stop: cluster.stop }
}
