import { STORES, type StoreName } from './contenders/stores.js'
import { type Child, startChild } from './harness/child.js'
import { keepPlot } from './harness/keep-plot.js'
import { linePlot, type Series } from './harness/plot.js'
import { median, takeTurns } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'
import type { Pauses } from './scale-child.js'

const KEY_COUNTS = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
const ROUNDS = 5
const DECISIONS = 200_000
const HEAP_MB = 9_000 // the peers need it for ten million keys
const TIME_LIMIT_MS = 600_000
const MOST_TIMES = 3
const LONGEST_PAUSE_MS = 10
const PAUSE_RUNS = 5
const NAMES = (Object.keys(STORES) as StoreName[]).filter((name) => name !== 'headgate, sliding window') // has no equal

/** What a decision costs as the keys become more, and how long the longest one takes while they do. */
export async function benchScale(): Promise<void> {
  const rows: string[][] = []
  const series: Series[] = []
  for (const name of NAMES) {
    const figures = await cpuNsByKeys(name)
    rows.push(rowOf(name, figures))
    if (figures instanceof Map) series.push({ name, points: [...figures] })
  }
  printTable(
    `CPU ns per decision by keys held: ${whole(DECISIONS)} decisions a round, ${ROUNDS} rounds in turns, medians. ` +
      'Each key is a new string, made just before, as of a request; making it does not count',
    ['contender', ...KEY_COUNTS.map(whole), `last / first, at most ${MOST_TIMES}x`],
    rows,
  )
  await showPauses()
  await keepPlot('scale', () =>
    linePlot({
      title: 'Cost per decision as the keys become more',
      xLabel: 'keys',
      yLabel: 'ns of CPU per decision, less is better',
      series,
    }),
  )
}

/** Results by the number of keys, or why a peer could not be measured. */
async function cpuNsByKeys(name: StoreName): Promise<Map<number, number> | string> {
  const children = new Map<string, Child>()
  const rounds: Record<string, () => Promise<Usage>> = {}
  try {
    for (const keys of KEY_COUNTS) {
      const child = startChild(module, [name, String(keys)], HEAP_MB, TIME_LIMIT_MS)
      children.set(String(keys), child)
      await child.ask({ do: 'fill' })
      await child.ask({ do: 'round', decisions: DECISIONS }) // for the compiler
      rounds[String(keys)] = () => child.ask<Usage>({ do: 'round', decisions: DECISIONS })
    }
    const usages = await takeTurns(rounds, ROUNDS)
    for (const child of children.values()) await child.ask({ do: 'check' })
    return new Map(KEY_COUNTS.map((keys) => [keys, (usages[keys]?.cpuNs ?? Number.NaN) / DECISIONS]))
  } catch (error) {
    if (name.startsWith('headgate')) throw error
    return error instanceof Error ? error.message : String(error)
  } finally {
    await Promise.all([...children.values()].map((child) => child.end()))
  }
}

const module = new URL('./scale-child.ts', import.meta.url)

function rowOf(name: StoreName, figures: Map<number, number> | string): string[] {
  if (typeof figures === 'string') return [name, ...KEY_COUNTS.map(() => '-'), figures]
  const all = [...figures.values()]
  const times = (all.at(-1) ?? Number.NaN) / (all[0] ?? Number.NaN)
  const verdict = times <= MOST_TIMES ? 'reached' : 'NOT reached'
  const shown = name.startsWith('headgate') ? `${times.toFixed(2)}x: ${verdict}` : `${times.toFixed(2)}x`
  return [name, ...all.map(whole), shown]
}

/** A garbage collection may hit any call: only what recurs in each run is the store's own. */
async function showPauses(): Promise<void> {
  const keys = KEY_COUNTS.at(-1) as number
  const runs: Pauses[] = []
  while (runs.length < PAUSE_RUNS) runs.push(await pausesOfRun(keys))
  const growing = runs.map(({ growingMs }) => growingMs)
  const shrinking = runs.map(({ shrinkingMs }) => shrinkingMs)
  const figures = (all: readonly number[]) => [...all, median(all)].map((ms) => ms.toFixed(2))
  printTable(
    `The longest single call while the store grows to ${whole(keys)} keys and shrinks to none, in milliseconds`,
    ['headgate, token bucket', ...runs.map((_, i) => `run ${i + 1}`), 'median'],
    [
      ['growing', ...figures(growing)],
      ['shrinking', ...figures(shrinking)],
    ],
  )
  const isShort = Math.max(median(growing), median(shrinking)) <= LONGEST_PAUSE_MS
  console.log(`\n  at most ${LONGEST_PAUSE_MS} ms: ${isShort ? 'reached' : 'NOT reached'}`)
}

async function pausesOfRun(keys: number): Promise<Pauses> {
  const child = startChild(module, ['headgate, token bucket', String(keys)], HEAP_MB, TIME_LIMIT_MS)
  try {
    return await child.ask<Pauses>({ do: 'grow and shrink' })
  } finally {
    await child.end()
  }
}
