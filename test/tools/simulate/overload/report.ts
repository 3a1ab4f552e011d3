import { printTable } from '../../../bench/harness/table.js'
import { percent } from '../report.js'
import { compareGuards, type Figures, GUARDS, type GuardName } from './compare.js'
import { SCENARIOS } from './scenarios.js'

const LEGEND = `
  goodput     requests that were answered while their client waited, as a ratio to the right fixed limit
  worst       the same, of the worst seed; all other figures are the median of the seeds
  denied      of the requests that clients sent
  critical    the 99th percentile of critical requests, in milliseconds
  tenant      what the worst tenant lost of what it sent within its share
  recovery    seconds after the end of the overload until a second was as good as 0.9 of the fixed limit's
  limit       at the end; for the right fixed limit, always`

const HEAD = ['guard', 'goodput', 'worst', 'denied', 'critical', 'tenant', 'recovery', 'limit'] as const

/** Prints a table for each scenario whose name contains a text, with all guards side by side. */
export function printOverload({ seeds, text }: { readonly seeds: number; readonly text: string }): void {
  console.log(LEGEND)
  const names = Object.keys(GUARDS) as GuardName[]
  for (const [title, scenario] of Object.entries(SCENARIOS)) {
    if (!title.includes(text)) continue
    const rows = Array.from(compareGuards(scenario, seeds, names), ([name, figures]) => rowOf(name, figures))
    printTable(title, HEAD, rows)
  }
}

function rowOf(name: string, all: readonly Figures[]): string[] {
  const show = (field: keyof Figures, format: (value: number) => string) => {
    const values = all.map((each) => each[field]).filter((value) => value !== undefined)
    return values.length === 0 ? '' : format(median(values))
  }
  return [
    name,
    show('goodput', (value) => value.toFixed(3)),
    Math.min(...all.map(({ goodput }) => goodput)).toFixed(3),
    show('denied', percent),
    show('criticalP99Ms', (value) => value.toFixed(0)),
    show('worstTenant', percent),
    show('recoveryS', (value) => value.toFixed(0)),
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
