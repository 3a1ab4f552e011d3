import type { CallerUsage } from './callers.js'
import type { ServerUsage } from './harness/server-usage.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { WorkloadName, Workloads } from './workloads.js'

export type Figures = CallerUsage & ServerUsage
export type Results<Name extends string> = Record<WorkloadName, Record<Name, Figures>>

export interface Goal<Name extends string> {
  readonly goal: string
  readonly workload: WorkloadName
  readonly figure: keyof Figures
  /** How many times less than the better peer's the figure must be. */
  readonly times: number
  /** Which rows must reach the goal. Default: all of headgate's stores. Limiters have gates. */
  readonly of?: readonly Name[]
}

/** Figures that are printed for one decision, by the head of their column. */
type Counts = Readonly<Record<string, 'requests' | 'writes'>>

/** How the stores on one kind of server are compared. */
export interface Report<Name extends string> {
  /** The server's name. */
  readonly server: string
  /** All contenders; ours begin with "headgate, ". */
  readonly names: readonly Name[]
  readonly workloads: Workloads
  /** Whether the p99 of many callers is printed too. */
  readonly hasP99?: boolean
  readonly counts: { readonly throughput: Counts; readonly latency: Counts }
  readonly goals: readonly Goal<Name>[]
}

export const isOurs = (name: string) => name.startsWith('headgate, ')

export function printResults<Name extends string>(report: Report<Name>, results: Results<Name>): void {
  printThroughput(report, results)
  printLatency(report, results)
  printGoals(report, results)
}

function printThroughput<Name extends string>(report: Report<Name>, results: Results<Name>): void {
  const { server, names, workloads, counts, hasP99 = false } = report
  const { callers, decisions, rounds } = workloads['many keys'] // as with one key
  const compared = ['wallNs', 'cpuNs', 'serverCpuNs', ...(hasP99 ? ['p99Ns'] : [])] as (keyof Figures)[]
  const rows = (['many keys', 'one key'] as const).flatMap((workload) =>
    names.map((name) => [
      name,
      whole(workloads[workload].keys),
      whole((decisions / results[workload][name].wallNs) * 1e9),
      ...(hasP99 ? [(results[workload][name].p99Ns / 1e6).toFixed(2)] : []),
      ...cpuColumns(results[workload][name], decisions),
      ...countColumns(results[workload][name], decisions, counts.throughput),
      ...peerColumns(report, results[workload], name, compared),
    ]),
  )
  printTable(
    `${server}, ${callers} callers in one process: ${whole(decisions)} decisions a round, ` +
      `${rounds} rounds, medians; against a peer: decisions a second, client CPU, ${server} CPU` +
      (hasP99 ? ', p99' : ''),
    [
      'contender',
      'keys',
      'decisions/s',
      ...(hasP99 ? ['p99 ms'] : []),
      ...figureHeads(report, counts.throughput),
    ],
    rows,
  )
}

function printLatency<Name extends string>(report: Report<Name>, results: Results<Name>): void {
  const { server, names, workloads, counts } = report
  const { decisions, keys, rounds } = workloads['one caller']
  const rows = names.map((name) => {
    const figures = results['one caller'][name]
    return [
      name,
      (figures.medianNs / 1000).toFixed(1),
      (figures.p99Ns / 1000).toFixed(1),
      ...cpuColumns(figures, decisions),
      ...countColumns(figures, decisions, counts.latency),
      ...peerColumns(report, results['one caller'], name, ['medianNs', 'p99Ns', 'cpuNs', 'serverCpuNs']),
    ]
  })
  printTable(
    `${server}, one caller: ${whole(decisions)} decisions a round over ${whole(keys)} keys, ` +
      `${rounds} rounds, medians; against a peer: median, p99, client CPU, ${server} CPU`,
    ['contender', 'median µs', 'p99 µs', ...figureHeads(report, counts.latency)],
    rows,
  )
}

function printGoals<Name extends string>({ names, goals }: Report<Name>, results: Results<Name>): void {
  const stores = names.filter((name) => isOurs(name) && !name.startsWith('headgate, limiter'))
  const peers = names.filter((name) => !isOurs(name))
  const rows = goals.map(({ goal, workload, figure, times, of = stores }) => {
    const figureOf = (name: Name) => results[workload][name][figure]
    const better = Math.min(...peers.map(figureOf))
    const isReached = of.every((name) => better / figureOf(name) >= times)
    return [
      goal,
      ratio(1, times),
      ...stores.map((name) => (of.includes(name) ? ratio(figureOf(name), better) : '-')),
      isReached ? 'reached' : 'NOT reached',
    ]
  })
  printTable(
    'Goals: how many times better than the better peer',
    ['goal', 'at least', ...stores.map((name) => name.replace('headgate, ', '')), ''],
    rows,
  )
}

/** The heads of the columns that `cpuColumns`, `countColumns` and `peerColumns` fill. */
function figureHeads<Name extends string>({ server, names }: Report<Name>, counts: Counts): string[] {
  const peers = names.filter((name) => !isOurs(name))
  return ['client µs', `${server} µs`, ...Object.keys(counts), ...peers.map((peer) => `${peer} /`)]
}

function cpuColumns({ cpuNs, serverCpuNs }: Figures, decisions: number): string[] {
  return [cpuNs, serverCpuNs].map((ns) => (ns / decisions / 1000).toFixed(2))
}

function countColumns(figures: Figures, decisions: number, counts: Counts): string[] {
  return Object.values(counts).map((figure) => (figures[figure] / decisions).toFixed(3))
}

/** How many times less than each peer's our figures are. */
function peerColumns<Name extends string>(
  { names }: Report<Name>,
  results: Record<Name, Figures>,
  name: Name,
  figures: readonly (keyof Figures)[],
): string[] {
  const peers = names.filter((peer) => !isOurs(peer))
  if (!isOurs(name)) return peers.map(() => '-')
  return peers.map((peer) =>
    figures.map((figure) => ratio(results[name][figure], results[peer][figure])).join(' '),
  )
}
