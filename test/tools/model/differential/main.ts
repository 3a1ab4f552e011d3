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
    if (subject.name === 'SQLite' && !hasSqlite())
      console.log(`SQLite: left out, since node:sqlite needs Node.js ${SQLITE_MAJOR} or newer`)
    else isSame = (await runSubject(subject, command)) && isSame
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
