import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, runTraces, type Tally } from './run-traces.js'
import { hasSqlite, SQLITE_MAJOR } from './sqlite-store.js'
import { SUBJECTS, type Subject } from './subjects.js'

/** What the command line asks for. */
export interface TraceCommand {
  /** Names of stores; none for all. */
  readonly stores: readonly string[]
  readonly seed: number
  readonly traces: number
  readonly seconds: number
}

/** Holds stores against the model, and prints a row for each. Returns whether there is no difference. */
export async function runDifferential(command: TraceCommand): Promise<boolean> {
  let isSame = true
  for (const subject of subjectsNamed(command.stores)) {
    const isElsewhere = subject.name === 'SQLite' && !hasSqlite()
    const isOwnSame = isElsewhere ? await runOnNewerNode(command) : await runSubject(subject, command)
    isSame = isOwnSame && isSame
  }
  return isSame
}

/** Returns the stores of some names, or all. */
export function subjectsNamed(names: readonly string[]): readonly Subject[] {
  const unknown = names.find((name) => SUBJECTS.every((subject) => subject.name !== name))
  if (unknown === undefined)
    return names.length === 0 ? SUBJECTS : SUBJECTS.filter(({ name }) => names.includes(name))
  throw new Error(`There is no store ${unknown}. Use one of: ${SUBJECTS.map(({ name }) => name).join(', ')}.`)
}

/** Plays the traces of one store. */
export async function tallyOf(
  { courses, lanes, start }: Subject,
  { seed, traces, seconds }: TraceCommand,
): Promise<Tally> {
  const { openLane, stop } = await start()
  try {
    return await runTraces(courses, openLane, { seed, traces, untilMs: Date.now() + seconds * 1000, lanes })
  } finally {
    await stop()
  }
}

async function runSubject(subject: Subject, command: TraceCommand): Promise<boolean> {
  const { traces, steps, differences } = await tallyOf(subject, command)
  const counts = `${traces} traces, ${steps} steps, ${differences.length} differences`
  console.log(`${subject.name}: ${counts} (from seed ${command.seed})`)
  for (const each of differences) console.log(describe(each))
  return differences.length === 0
}

/** Runs the traces of SQLite in a process that has node:sqlite. */
async function runOnNewerNode({ seed, traces, seconds }: TraceCommand): Promise<boolean> {
  const { nodeOf } = await import('../../../e2e/package/nodes.js')
  const { path } = await nodeOf(String(SQLITE_MAJOR))
  const numbers = { seed, traces, seconds }
  const flags = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)])
  const main = join(__dirname, '../main.ts')
  const args = ['--import', 'tsx', main, 'traces', '--store', 'SQLite', ...flags]
  return spawnSync(path, args, { stdio: 'inherit' }).status === 0
}
