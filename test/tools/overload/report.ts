import { median } from '../../bench/harness/rounds.js'
import { printTable, whole } from '../../bench/harness/table.js'
import { type Goal, goalsOf, idleP99Of, type Runs, ratiosOf } from './goals.js'
import type { LiveRun } from './run.js'
import { type LiveScenario, OURS, SERVER_KINDS, secondsOf } from './scenario.js'

/** Later than this, the generator was what was busy. */
const MAX_LAG_MS = 20

export const LEGEND = `
good       answered while the client waited, a second
possible   the same, as a ratio to what was sent or, in busy seconds, to what a healthy server can do
of fixed   the same, as a ratio to the right fixed limit in the same round: the median, and all rounds
denied     503, percent of the requests
lost       no response in time, or an error, percent of the requests
CPU        of the server's process, milliseconds for each request that was answered in time
critical   p99 of critical requests in ms; "lost" if more than 1 % of them got no response
others     requests of the other tenants that were not answered in time, percent; and of the worst of them
recovers   full seconds from the end of the trouble until all is well; the worst round
All other figures are medians of the rounds. Where no limit is right, "fixed" knows how long each client has
waited, and denies those that have waited for half of their patience.`

/** Prints what each contender did in the rounds of a scenario. */
export function printScenario(scenario: LiveScenario, runs: Runs, seconds: number): void {
  const columns = COLUMNS.filter(({ applies }) => applies?.(scenario, runs) !== false)
  const lasts = secondsOf(scenario, seconds).main
  const rows = Array.from(runs, ([guard, own]) => [
    guard,
    ...columns.map(({ cell }) => cell({ scenario, runs, guard, own, lasts })),
  ])
  printTable(scenario.name, ['guard', ...columns.map(({ head }) => head)], rows)
  const idleMs = idleP99Of(runs)
  if (scenario.hasCritical)
    console.log(`\n  Critical requests to an idle server: p99 ${idleMs.toFixed(1)} ms.`)
  const lagMs = Math.max(...Array.from(runs.values()).flatMap((all) => all.map((run) => run.lagMs)))
  if (lagMs > MAX_LAG_MS) console.log(`\n  The generator sent up to ${whole(lagMs)} ms late (p99).`)
}

/** Prints which goals this package reached, and how many of them each guard did. */
export function printGoals(played: ReadonlyMap<LiveScenario, Runs>): void {
  const mark = ({ isMet }: Goal) => (isMet ? 'met' : 'missed')
  const rows = Array.from(played, ([scenario, runs]) =>
    goalsOf(scenario, runs, OURS).map((goal) => [scenario.name, goal.title, goal.reached, mark(goal)]),
  ).flat()
  printTable(`The goals, as ${OURS} reached them`, ['scenario', 'goal', 'reached', 'verdict'], rows)
  const guards = new Set(Array.from(played.values(), (runs) => Array.from(runs.keys())).flat())
  const counts = Array.from(guards, (guard) => {
    const goals = Array.from(played, ([scenario, runs]) =>
      runs.has(guard) ? goalsOf(scenario, runs, guard) : [],
    ).flat()
    return [guard, `${goals.filter(({ isMet }) => isMet).length}`, `${goals.length}`]
  })
  printTable(
    'Goals that each guard reached, of those in the scenarios it played',
    ['guard', 'met', 'of'],
    counts,
  )
}

/** Prints what one contender answered in time, by the second. */
export function printSeconds(contender: string, { sentBySecond, goodBySecond }: LiveRun): void {
  const seconds = sentBySecond.map((sent, second) => `${goodBySecond[second] ?? 0}/${sent}`)
  console.log(`  ${contender}: ${seconds.join(' ')}`)
}

interface Row {
  readonly scenario: LiveScenario
  readonly runs: Runs
  readonly guard: string
  readonly own: readonly LiveRun[]
  readonly lasts: number
}

interface Column {
  readonly head: string
  applies?(scenario: LiveScenario, runs: Runs): boolean
  cell(row: Row): string
}

const COLUMNS: readonly Column[] = [
  { head: 'sent', cell: ({ own, lasts }) => whole(medianOf(own, ({ sent }) => sent / lasts)) },
  { head: 'good', cell: ({ own, lasts }) => whole(medianOf(own, ({ good }) => good / lasts)) },
  {
    head: 'possible',
    cell: ({ own, scenario }) => medianOf(own, (run) => possible(run, scenario)).toFixed(2),
  },
  { head: 'of fixed', cell: ({ runs, guard }) => range(ratiosOf(runs, guard)) },
  { head: 'denied', cell: ({ own }) => percent(medianOf(own, ({ denied, sent }) => denied / sent)) },
  { head: 'lost', cell: ({ own }) => percent(medianOf(own, ({ lost, sent }) => lost / sent)) },
  { head: 'CPU', cell: ({ own }) => medianOf(own, ({ cpuMs, good }) => cpuMs / good).toFixed(2) },
  { head: 'limit', cell: ({ own }) => whole(medianOf(own, ({ limit }) => limit ?? 0)).replace(/^0$/, '') },
  {
    head: 'critical',
    applies: ({ hasCritical = false }) => hasCritical,
    cell: ({ own }) => {
      const p99 = medianOf(own, ({ criticalP99Ms = Number.POSITIVE_INFINITY }) => criticalP99Ms)
      return Number.isFinite(p99) ? p99.toFixed(1) : 'lost'
    },
  },
  { head: 'others', applies: hasOthers, cell: ({ own }) => `${percent(medianOf(own, othersLoss))}` },
  {
    head: 'worst',
    applies: hasOthers,
    cell: ({ own }) => percent(medianOf(own, ({ worstTenant = Number.NaN }) => worstTenant)),
  },
  {
    head: 'recovers',
    applies: ({ calmFrom }) => calmFrom !== undefined,
    cell: ({ own }) => {
      const all = own.map(({ recoveredAfter = Number.POSITIVE_INFINITY }) => recoveredAfter)
      return Number.isFinite(Math.max(...all)) ? whole(Math.max(...all)) : 'never'
    },
  },
]

function hasOthers(_scenario: LiveScenario, runs: Runs): boolean {
  return Array.from(runs.values()).some((all) => all.some(({ groups }) => groups.others !== undefined))
}

function othersLoss({ groups: { others } }: LiveRun): number {
  return others === undefined ? Number.NaN : 1 - others.good / others.sent
}

function possible({ good, sentBySecond }: LiveRun, { work }: LiveScenario): number {
  const perSecond = SERVER_KINDS[work].capacity * 1000
  return good / sentBySecond.reduce((sum, sent) => sum + Math.min(sent, perSecond), 0)
}

function medianOf(runs: readonly LiveRun[], figure: (run: LiveRun) => number): number {
  return median(runs.map(figure))
}

function percent(share: number): string {
  return (100 * share).toFixed(2)
}

/** Shows the median of some figures, and from where to where they go. */
function range(figures: readonly number[]): string {
  const [least, most] = [Math.min(...figures), Math.max(...figures)].map((figure) => figure.toFixed(2))
  const middle = median(figures).toFixed(2)
  return least === most ? middle : `${middle} (${least}–${most})`
}
