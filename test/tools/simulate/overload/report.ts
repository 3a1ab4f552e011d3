import { printTable } from '../../../bench/harness/table.js'
import { percent } from '../report.js'
import { compareGuards, type Figures, GUARDS, type GuardName } from './compare.js'
import { SCENARIOS } from './scenarios.js'

const LEGEND = `
  goodput     requests that were answered while their client waited, as a ratio to the right fixed limit
  worst       the same, of the worst seed; goodput, denied and limit are the median of the seeds
  denied      of the requests that clients sent
  most        what was denied in the seed with the most denials
  critical    the 99th percentile of critical requests, in milliseconds, in the worst seed; "lost" if more than
              1 % of them were denied
  tenant      what the worst tenant lost of what it sent within its share, in the worst seed
  recovery    seconds after the end of the overload until a second was as good as 0.9 of the fixed limit's,
              in the worst seed
  limit       at the end; for the right fixed limit, always

  The other guards run with three of the seeds at most.`

/** Guards that run with all seeds. */
const OURS: readonly GuardName[] = ['right fixed limit', 'headgate']
const SEEDS_OF_OTHERS = 3

const HEAD = [
  'guard',
  'goodput',
  'worst',
  'denied',
  'most',
  'critical',
  'tenant',
  'recovery',
  'limit',
] as const

/** Prints a table for each scenario whose name contains a text, with all guards side by side. */
export function printOverload({ seeds, text }: { readonly seeds: number; readonly text: string }): void {
  console.log(LEGEND)
  const names = Object.keys(GUARDS) as GuardName[]
  for (const [title, scenario] of Object.entries(SCENARIOS)) {
    if (!title.includes(text)) continue
    const others = names.filter((name) => !OURS.includes(name))
    const figures = new Map([
      ...compareGuards(scenario, seeds, OURS),
      ...compareGuards(scenario, Math.min(seeds, SEEDS_OF_OTHERS), others),
    ])
    printTable(
      title,
      HEAD,
      names.map((name) => rowOf(name, figures.get(name) ?? [])),
    )
  }
}

function rowOf(name: string, all: readonly Figures[]): string[] {
  const show = (field: keyof Figures, format: (value: number) => string, of = median) => {
    const values = all.map((each) => each[field]).filter((value) => value !== undefined)
    return values.length === 0 ? '' : format(of(values))
  }
  const most = (values: readonly number[]) => Math.max(...values)
  return [
    name,
    show('goodput', (value) => value.toFixed(3)),
    Math.min(...all.map(({ goodput }) => goodput)).toFixed(3),
    show('denied', percent),
    show('denied', (value) => `${(100 * value).toFixed(2)} %`, most),
    show('criticalP99Ms', (value) => (value === Number.POSITIVE_INFINITY ? 'lost' : value.toFixed(0)), most),
    show('worstTenant', percent, most),
    show('recoveryS', (value) => value.toFixed(0), most),
    show('limit', (value) => value.toFixed(0)),
  ]
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
