import { boundedUnits } from './admitted.js'
import { mostAllowed } from './bounds.js'
import type { Outcome } from './run-fault.js'

const COLUMNS: readonly (readonly [title: string, width: number])[] = [
  ['store', 9],
  ['fault', 18],
  ['choice', 8],
  ['requests', 8],
  ['p50', 5],
  ['p99', 5],
  ['p99.9', 5],
  ['max ms', 6],
  ['busy', 5],
  ['client', 6],
  ['by the store', 12],
  ['otherwise', 12],
  ['429', 5],
  ['503', 5],
  ['first', 5],
  ['steady', 6],
  ['let through', 11],
  ['ended', 5],
]

const FIRST_NUMBER = 3

export function head(): string {
  return line(COLUMNS.map(([title]) => title))
}

export function row(store: string, outcome: Outcome): string {
  const { fault, choice, app, clientP999, seen, recovery, admitted } = outcome
  const { p50, p99, p999, max } = app.waits
  const count = (test: (kind: string) => boolean) =>
    Object.entries(app.counts).reduce((sum, [kind, number]) => sum + (test(kind) ? number : 0), 0)
  return line([
    store,
    fault.name,
    choice,
    seen.length,
    ...[p50, p99, p999, max].map((ms) => ms.toFixed(ms < 10 ? 1 : 0)),
    app.heldUpMs.toFixed(0),
    clientP999.toFixed(0),
    count((kind) => kind.startsWith('store')),
    count((kind) => !kind.startsWith('store')),
    count((kind) => kind.endsWith('429')),
    count((kind) => kind.endsWith('503')),
    recovery.firstMs ?? '-',
    recovery.steadyMs ?? '-',
    `${boundedUnits(admitted, choice)} of ${mostAllowed(outcome)}`,
    outcome.hasEnded ? 'yes' : 'no',
  ])
}

function line(cells: readonly (string | number)[]): string {
  return cells
    .map((cell, i) => {
      const width = COLUMNS[i]?.[1] ?? 0
      return i < FIRST_NUMBER ? String(cell).padEnd(width) : String(cell).padStart(width)
    })
    .join('  ')
}
