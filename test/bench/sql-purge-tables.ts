import { EXPIRED_ROWS } from './harness/expired-rows.js'
import { printTable, whole } from './harness/table.js'
import type { Phase } from './sql-purge-phase.js'

/** Short, so that a moment in which the machine stands still spoils few. */
export const SLICE_MS = 1_000
/** The first and the last pace are means over this many slices. */
const PACE_SLICES = 10
const MOST_TIMES = 2

/** What came of a purge. */
export interface Outcome {
  readonly phases: Readonly<Record<'before' | 'purging' | 'after', Phase>>
  /** Rows removed by the end of each slice, as far as the server counted. */
  readonly removed: readonly number[]
  readonly removedInAll: number
}

export function printWaits(outcomes: ReadonlyMap<string, Outcome>): void {
  const rows = [...outcomes].flatMap(([name, { phases }]) =>
    Object.entries(phases).map(([phase, { slices, medianMs, p99Ms, worstP99Ms }]) => {
      const times = p99Ms / phases.before.p99Ms
      const isWithin = times <= MOST_TIMES ? 'reached' : 'NOT reached'
      const goal = phase === 'purging' ? `${isWithin}: at most ${MOST_TIMES}` : ''
      return [
        name,
        phase,
        String(slices),
        ...[medianMs, p99Ms, worstP99Ms].map((ms) => ms.toFixed(2)),
        times.toFixed(2),
        goal,
      ]
    }),
  )
  printTable(
    `50 callers, 500 charges a second, ${whole(EXPIRED_ROWS)} expired rows: slices of ${SLICE_MS / 1000} s, medians; p99 against the one before`,
    ['server', 'phase', 'slices', 'median ms', 'p99 ms', 'worst p99 ms', 'times before', ''],
    rows,
  )
}

export function printRemoved(outcomes: ReadonlyMap<string, Outcome>): void {
  const rows = [...outcomes].map(([name, { removed, removedInAll }]) => {
    const tookS = (removed.length * SLICE_MS) / 1000
    const lastPace = paceAt(removed, removed.length)
    const left = EXPIRED_ROWS - removedInAll
    const allS =
      left === 0 ? `at most ${whole(tookS)}` : `about ${whole(tookS + left / lastPace)}, at the last pace`
    return [name, whole(removedInAll), ...[paceAt(removed, PACE_SLICES), lastPace, tookS].map(whole), allS]
  })
  printTable(
    `Expired rows removed behind the charges, of ${whole(EXPIRED_ROWS)}`,
    ['server', 'removed', 'rows/s at first', 'rows/s at last', 'in s', 'all gone after s'],
    rows,
  )
}

/** Rows a second over the slices before one. */
function paceAt(removed: readonly number[], end: number): number {
  const to = Math.min(end, removed.length)
  const from = Math.max(to - PACE_SLICES, 0)
  const rows = (removed[to - 1] ?? 0) - (removed[from - 1] ?? 0)
  return rows / (((to - from) * SLICE_MS) / 1000)
}
