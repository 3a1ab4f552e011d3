import type { RedisStoreName } from './contenders/redis-stores.js'
import { REDIS_STORES } from './contenders/redis-stores.js'
import type { RedisUsage } from './harness/redis-usage.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { CallerUsage, Workload } from './redis-child.js'

export const NAMES = Object.keys(REDIS_STORES) as RedisStoreName[]
export const PEERS = NAMES.filter((name) => !name.startsWith('headgate'))
const OURS = NAMES.filter((name) => name.startsWith('headgate'))

/** What is asked for in one round, and how many rounds count. They are short, so that a noisy machine hits all alike. */
export const WORKLOADS = {
  'many keys': { callers: 200, keys: 10_000, decisions: 50_000, warmUps: 3, rounds: 15 },
  'one key': { callers: 200, keys: 1, decisions: 50_000, warmUps: 3, rounds: 15 },
  'one caller': { callers: 1, keys: 10_000, decisions: 1_000, warmUps: 10, rounds: 50 },
} as const satisfies Record<string, Workload & { warmUps: number; rounds: number }>

export type WorkloadName = keyof typeof WORKLOADS
export type Figures = CallerUsage & RedisUsage
export type Results = Record<WorkloadName, Record<RedisStoreName, Figures>>

interface Goal {
  readonly goal: string
  readonly workload: WorkloadName
  readonly figure: keyof Figures
  /** How many times less than the better peer's the figure must be. */
  readonly times: number
}

const GOALS: readonly Goal[] = [
  { goal: 'decisions a second, 10,000 keys', workload: 'many keys', figure: 'wallNs', times: 2.5 },
  { goal: 'client CPU, 10,000 keys', workload: 'many keys', figure: 'cpuNs', times: 4 },
  { goal: 'Redis CPU, 10,000 keys', workload: 'many keys', figure: 'redisCpuNs', times: 2 },
  { goal: 'decisions a second, one key', workload: 'one key', figure: 'wallNs', times: 5 },
  { goal: "one caller's median latency", workload: 'one caller', figure: 'medianNs', times: 1 / 1.1 },
]

export function printResults(results: Results): void {
  printThroughput(results)
  printLatency(results)
  printGoals(results)
}

function printThroughput(results: Results): void {
  const { decisions, rounds } = WORKLOADS['many keys'] // as with one key
  const rows = (['many keys', 'one key'] as const).flatMap((workload) =>
    NAMES.map((name) => {
      const { wallNs, scripts } = results[workload][name]
      const against = (peer: RedisStoreName) =>
        timesLess(results[workload], name, peer, ['wallNs', 'cpuNs', 'redisCpuNs'])
      return [
        name,
        whole(WORKLOADS[workload].keys),
        whole((decisions / wallNs) * 1e9),
        ...cpuColumns(results[workload][name], decisions),
        (scripts / decisions).toFixed(3),
        ...PEERS.map(against),
      ]
    }),
  )
  printTable(
    `Redis, 200 callers in one process: ${whole(decisions)} decisions a round, ` +
      `${rounds} rounds, medians; against a peer: decisions a second, client CPU, Redis CPU`,
    [
      'contender',
      'keys',
      'decisions/s',
      'client µs',
      'Redis µs',
      'calls',
      ...PEERS.map((peer) => `${peer} /`),
    ],
    rows,
  )
}

function printLatency(results: Results): void {
  const { decisions, keys, rounds } = WORKLOADS['one caller']
  const rows = NAMES.map((name) => {
    const figures = results['one caller'][name]
    const against = (peer: RedisStoreName) =>
      timesLess(results['one caller'], name, peer, ['medianNs', 'p99Ns', 'cpuNs', 'redisCpuNs'])
    const latencies = [(figures.medianNs / 1000).toFixed(1), (figures.p99Ns / 1000).toFixed(1)]
    return [name, ...latencies, ...cpuColumns(figures, decisions), ...PEERS.map(against)]
  })
  printTable(
    `Redis, one caller: ${whole(decisions)} decisions a round over ${whole(keys)} keys, ` +
      `${rounds} rounds, medians; against a peer: median, p99, client CPU, Redis CPU`,
    ['contender', 'median µs', 'p99 µs', 'client µs', 'Redis µs', ...PEERS.map((peer) => `${peer} /`)],
    rows,
  )
}

function printGoals(results: Results): void {
  const rows = GOALS.map(({ goal, workload, figure, times }) => {
    const of = (name: RedisStoreName) => results[workload][name][figure]
    const better = Math.min(...PEERS.map(of))
    const isReached = OURS.every((name) => better / of(name) >= times)
    return [
      goal,
      ratio(1, times),
      ...OURS.map((name) => ratio(of(name), better)),
      isReached ? 'reached' : 'NOT reached',
    ]
  })
  printTable(
    'Goals: how many times better than the better peer',
    ['goal', 'at least', ...OURS.map((name) => name.replace('headgate, ', '')), ''],
    rows,
  )
}

function cpuColumns({ cpuNs, redisCpuNs }: Figures, decisions: number): string[] {
  return [cpuNs, redisCpuNs].map((ns) => (ns / decisions / 1000).toFixed(2))
}

function timesLess(
  results: Record<RedisStoreName, Figures>,
  name: RedisStoreName,
  peer: RedisStoreName,
  figures: readonly (keyof Figures)[],
): string {
  if (!OURS.includes(name)) return '-'
  return figures.map((figure) => ratio(results[name][figure], results[peer][figure])).join(' ')
}
