import { median } from '../../bench/harness/rounds.js'
import { printTable, whole } from '../../bench/harness/table.js'
import type { LiveRun } from './run.js'
import { type LiveScenario, SERVER_KINDS } from './scenario.js'

/** The contender whose goodput is 1. */
export const REFERENCE = 'fixed'

/** Later than this, the generator was what was busy. */
const MAX_LAG_MS = 20

export const LEGEND = `
good       answered while the client waited, a second
possible   the same, as a ratio to what was sent or, in busy seconds, to what a healthy server can do
of fixed   the same, as a ratio to the fixed limit: the median of the rounds, and the worst
denied     503, percent of the requests; lost: no response in time
CPU        of the server's process, percent of a core
critical   p99 of critical requests in ms; "lost" if more than 1 % of them got no response
others     requests of the other tenants that were not answered in time, percent
recovers   seconds from the end of the trouble until all is well`

/** Prints what each contender did in the rounds of a scenario. */
export function printScenario(
  { name, calmFrom, work }: LiveScenario,
  runs: ReadonlyMap<string, readonly LiveRun[]>,
  seconds: number,
): void {
  const all = [...runs.values()].flat()
  const hasCritical = all.some(({ groups }) => groups.critical !== undefined)
  const hasTenants = all.some(({ groups }) => groups.others !== undefined)
  const head = ['guard', 'sent', 'good', 'possible', 'of fixed', 'denied', 'lost', 'CPU', 'limit']
  if (hasCritical) head.push('critical')
  if (hasTenants) head.push('others')
  if (calmFrom !== undefined) head.push('recovers')
  const reference = runs.get(REFERENCE)
  const rows = Array.from(runs, ([contender, each]) => [
    contender,
    ...figuresOf(each, reference, seconds, SERVER_KINDS[work].capacity * 1000),
    ...(hasCritical ? [criticalOf(each)] : []),
    ...(hasTenants
      ? [percentOf(each, ({ groups: { others } }) => others && 1 - others.good / others.sent)]
      : []),
    ...(calmFrom === undefined ? [] : [recoveryOf(each)]),
  ])
  printTable(name, head, rows)
  const lagMs = Math.max(...all.map((run) => run.lagMs))
  if (lagMs > MAX_LAG_MS) console.log(`\n  The generator sent up to ${whole(lagMs)} ms late (p99).`)
}

/** Prints what one contender answered in time, by the second. */
export function printSeconds(contender: string, { sentBySecond, goodBySecond }: LiveRun): void {
  const seconds = sentBySecond.map((sent, second) => `${goodBySecond[second] ?? 0}/${sent}`)
  console.log(`  ${contender}: ${seconds.join(' ')}`)
}

function figuresOf(
  runs: readonly LiveRun[],
  reference: readonly LiveRun[] | undefined,
  seconds: number,
  perSecond: number,
): string[] {
  const medianOf = (figure: (run: LiveRun) => number) => median(runs.map(figure))
  const ratios = runs.map(({ good }, round) => good / (reference?.[round]?.good ?? Number.NaN))
  const ofFixed = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)})`
  const limits = runs.flatMap(({ limit }) => (limit === undefined ? [] : [limit]))
  return [
    whole(medianOf(({ sent }) => sent / seconds)),
    whole(medianOf(({ good }) => good / seconds)),
    medianOf((run) => run.good / possible(run, perSecond)).toFixed(2),
    reference === undefined ? '' : ofFixed,
    percentOf(runs, ({ denied, sent }) => denied / sent),
    percentOf(runs, ({ lost, sent }) => lost / sent),
    whole(100 * medianOf(({ cpuShare }) => cpuShare)),
    limits.length === 0 ? '' : whole(median(limits)),
  ]
}

function possible({ sentBySecond }: LiveRun, perSecond: number): number {
  return sentBySecond.reduce((sum, sent) => sum + Math.min(sent, perSecond), 0)
}

function percentOf(runs: readonly LiveRun[], share: (run: LiveRun) => number | undefined): string {
  return (100 * median(runs.map((run) => share(run) ?? Number.NaN))).toFixed(2)
}

function criticalOf(runs: readonly LiveRun[]): string {
  const p99 = median(runs.map(({ criticalP99Ms = Number.POSITIVE_INFINITY }) => criticalP99Ms))
  return Number.isFinite(p99) ? whole(p99) : 'lost'
}

function recoveryOf(runs: readonly LiveRun[]): string {
  const worst = Math.max(...runs.map(({ recoveredAfter = Number.POSITIVE_INFINITY }) => recoveredAfter))
  return Number.isFinite(worst) ? whole(worst) : 'never'
}
