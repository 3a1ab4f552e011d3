import { nextTurn } from '../../../support/next-turn.js'
import { type HotLimit, limitNamed } from './limits.js'
import { linearize, linearizeSeveral, mostHeld, type Verdict } from './linearize.js'
import { type History, LOAD, record, startCallers } from './record.js'
import type { Rules } from './sequential.js'
import { type HistoryTarget, TARGETS } from './targets.js'

/** What the command line asks for. */
export interface HistoryCommand {
  /** Names of stores; none for all. */
  readonly stores: readonly string[]
  readonly seed: number
  readonly seconds: number
}

/** What came of the histories of a store. */
export interface HistoryTally {
  histories: number
  operations: number
  violations: History[]
  undecided: number
  /** Calls whose outcome the caller does not know. */
  unknown: number
  /** Calls that leased units decided. */
  leased: number
}

/** Returns a tally of no histories. */
export function emptyTally(): HistoryTally {
  return { histories: 0, operations: 0, violations: [], undecided: 0, unknown: 0, leased: 0 }
}

const MAX_SHOWN = 3

/**
 * Tallies histories of one store after the other, and prints a row for each, with its first violations. Returns
 * whether `isFine` holds for all, and none has a violation.
 */
export async function runStores<T extends HistoryTally>(
  { stores, seed, seconds }: HistoryCommand,
  all: readonly string[],
  tallyOf: (name: string, seed: number, untilMs: number) => Promise<T>,
  rowOf: (tally: T) => string,
  isFine: (tally: T) => boolean,
): Promise<boolean> {
  let areFine = true
  for (const name of stores.length === 0 ? all : stores) {
    const tally = await tallyOf(name, seed, Date.now() + seconds * 1000)
    const { histories, operations, violations } = tally
    const counts = `${histories} histories, ${operations} operations, ${violations.length} violations`
    console.log(`${name}: ${counts}, ${rowOf(tally)}`)
    for (const each of violations.slice(0, MAX_SHOWN)) console.log(textOf(each))
    areFine = areFine && violations.length === 0 && isFine(tally)
  }
  return areFine
}

/** Records histories on stores, checks them, and prints a row for each. Returns whether all are in order. */
export function runHistories(command: HistoryCommand): Promise<boolean> {
  return runStores(
    command,
    Object.keys(TARGETS),
    tallyHistories,
    ({ undecided, unknown, leased }) =>
      `${undecided} undecided, ${unknown} unknown outcomes${leased > 0 ? `, ${leased} leased` : ''} ` +
      `(from seed ${command.seed})`,
    ({ undecided }) => undecided === 0,
  )
}

/** Records and checks histories on one store until a time is over. `program` is a bundle of the callers. */
export async function tallyHistories(
  name: string,
  seed: number,
  untilMs: number,
  program?: string,
): Promise<HistoryTally> {
  const tally = emptyTally()
  const { start, limits, load = LOAD } = targetNamed(name)
  const started = await start()
  const callers = startCallers(started, load, program)
  const countAll = async (histories: readonly History[]) => {
    for (const history of histories) {
      count(tally, history, name)
      await nextTurn() // this process may own the states of the store
    }
  }
  try {
    let recorded: readonly History[] = []
    for (let own = seed; Date.now() < untilMs || own === seed; own++) {
      const recording = record(callers, own, load, limits)
      await countAll(recorded) // while the next ones are recorded
      recorded = await recording
    }
    await countAll(recorded)
  } finally {
    await callers.end()
    await started.stop()
  }
  return tally
}

/** Returns a store by its name. */
export function targetNamed(name: string): HistoryTarget {
  const target = TARGETS[name]
  if (target !== undefined) return target
  throw new Error(`There is no store ${name}. Use one of: ${Object.keys(TARGETS).join(', ')}.`)
}

/** Checks a history, and adds it to a tally. */
export function count(tally: HistoryTally, history: History, store: string): void {
  const limit = limitNamed(history.limit)
  const { policy, isLeased } = limit
  const verdict = verdictOn(history, limit, store)
  const isOverHeld = (policy.holdsUnits || isLeased) === true && mostHeld(history.entries) > policy.limit
  tally.histories++
  tally.operations += history.entries.length
  tally.unknown += history.entries.filter(({ isUnknown }) => isUnknown).length
  tally.leased += history.entries.filter(({ isLeased }) => isLeased).length
  if (verdict === 'undecided') tally.undecided++
  if (verdict === 'violation' || isOverHeld) tally.violations.push(history)
}

function verdictOn({ entries }: History, limit: HotLimit, store: string): Verdict {
  if (limit.isLeased) return 'ordered' // only the bound is promised
  const rulesOf = ({ policy, after, older, isCounted }: HotLimit): Rules => ({
    limit: policy.limit,
    after,
    isTentative: store === 'memcached' && isCounted,
    mayMissRow: targetNamed(store).mayMissRow,
    holdsUnits: policy.holdsUnits,
    older: { limit: older.policy.limit, after: older.after },
  })
  if (limit.together === undefined) return linearize(entries, rulesOf(limit))
  const rules = limit.together.map((name) => [name, rulesOf(limitNamed(name))])
  return linearizeSeveral(entries, Object.fromEntries(rules))
}

/** Returns a history as text, in the order of the calls, in microseconds from the first. */
export function textOf({ limit, entries }: History): string {
  const ordered = [...entries].sort((a, b) => a.invokedNs - b.invokedNs)
  const [first] = ordered
  const since = (ns: number) => Math.round((ns - (first?.invokedNs ?? 0)) / 1000)
  const lines = ordered.map(
    ({ call, shown, invokedNs, returnedNs, isUnknown }) =>
      `${since(invokedNs)}-${since(returnedNs)} ${JSON.stringify(call)} ${isUnknown ? 'unknown' : JSON.stringify(shown)}`,
  )
  return [`  ${limit}:`, ...lines].join('\n    ')
}
