import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONTENDERS, type Contender } from './contenders/restarts.js'
import { startChild } from './harness/child.js'
import { medianOf } from './harness/intervals.js'
import { median, roundsInTurn } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'
import type { Dumped, Question } from './restart-child.js'
import { isShort } from './workloads.js'

const KEY_COUNTS = isShort ? [100_000] : [100_000, 1_000_000]
const ROUNDS = isShort ? 3 : 7
const HEAP_MB = 3000
const TIME_LIMIT_MS = 120_000
const NAMES = Object.keys(CONTENDERS) as Contender[]
const GOAL = { contender: 'token bucket', keys: 1_000_000, mostMs: 1000 } as const

/** A restart: what the old process takes to dump its counts, and the new one to restore them. */
interface Restart {
  readonly dump: Dumped
  readonly restore: Usage
}

/**
 * Measures how long a memory store takes to pass its counts to the next process. Each dump and each restore is
 * the only one of its process. The file between the two is not measured.
 */
export async function benchRestart(): Promise<void> {
  const rows: string[][] = []
  const goal: string[] = []
  for (const keys of KEY_COUNTS) {
    const contenders = NAMES.map((name) => [name, () => restart(name, keys)])
    const rounds = await roundsInTurn<Contender, Restart>(Object.fromEntries(contenders), ROUNDS)
    for (const name of NAMES) rows.push(rowOf(name, keys, rounds[name]))
    if (keys === GOAL.keys) goal.push(goalOf(rounds[GOAL.contender]))
  }
  printTable(
    `Dump and restore of a memory store: ${ROUNDS} restarts each in turns, of fresh processes, medians in milliseconds`,
    ['contender', 'keys', 'dump', 'restore', 'both', '95 %', 'CPU of dump', 'CPU of restore', 'MB of dump'],
    rows,
  )
  for (const line of goal) console.log(`\n  ${line}`)
}

async function restart(name: Contender, keys: number): Promise<Restart> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-restart-'))
  const file = join(folder, 'limits.dump')
  try {
    const dump = await askOne<Dumped>(name, keys, { do: 'fill' }, { do: 'dump', file })
    const restore = await askOne<Usage>(name, keys, { do: 'restore', file })
    return { dump, restore }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Asks a fresh process. Returns its last answer. */
async function askOne<Answer>(name: Contender, keys: number, ...questions: Question[]): Promise<Answer> {
  const module = new URL('./restart-child.ts', import.meta.url)
  const child = startChild(module, [name, String(keys)], HEAP_MB, TIME_LIMIT_MS)
  try {
    let answer: unknown
    for (const question of questions) answer = await child.ask(question)
    return answer as Answer
  } finally {
    await child.end()
  }
}

const bothMs = ({ dump, restore }: Restart) => (dump.wallNs + restore.wallNs) / 1e6

function rowOf(name: Contender, keys: number, restarts: readonly Restart[]): string[] {
  const ms = (nsOf: (each: Restart) => number) => whole(median(restarts.map(nsOf)) / 1e6)
  const both = medianOf(restarts.map(bothMs))
  return [
    name,
    whole(keys),
    ms(({ dump }) => dump.wallNs),
    ms(({ restore }) => restore.wallNs),
    whole(both.median),
    `${whole(both.low)} to ${whole(both.high)}`,
    ms(({ dump }) => dump.cpuNs),
    ms(({ restore }) => restore.cpuNs),
    (median(restarts.map(({ dump }) => dump.bytes)) / 1e6).toFixed(1),
  ]
}

function goalOf(restarts: readonly Restart[]): string {
  const ms = median(restarts.map(bothMs))
  const verdict = ms <= GOAL.mostMs ? 'reached' : 'NOT reached'
  return `Goal: ${GOAL.contender}, ${whole(GOAL.keys)} keys, at most ${whole(GOAL.mostMs)} ms for both: ${whole(ms)} ms, ${verdict}`
}
