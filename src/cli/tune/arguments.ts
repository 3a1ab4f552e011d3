import { UsageError } from '../failures.js'
import { parseReplayArguments, type ReplaySettings } from '../replay/arguments.js'

/** Options of `replay` that say nothing about which limit is proposed. */
const NOT_HERE = ['--policy', '--suggest', '--html']

/** What a command line asks for. */
export interface TuneSettings {
  /** How logs are read, and clients identified: as in `replay`. */
  readonly replay: ReplaySettings
  readonly windowMs: number
  /** The limit in force, if any. */
  readonly limit: number | undefined
}

/** Returns what the arguments ask for. Throws a `UsageError` for the first that is wrong. */
export function parseTuneArguments(args: readonly string[]): TuneSettings {
  const end = args.indexOf('--')
  for (const arg of end < 0 ? args : args.slice(0, end)) {
    const [name = ''] = arg.split('=', 1)
    if (NOT_HERE.includes(name)) throw new UsageError(`${name} is an option of replay, not of tune`)
  }
  // A limit is optional where limits are suggested, and only windows by the clock can be counted for all.
  const replay = parseReplayArguments(['--suggest', '--policy', 'fixed-window', ...args])
  const { policies, suggest } = replay
  if (policies.length > 1) throw new UsageError('--limit can be given only once: it is the limit in force')
  if (suggest === undefined) throw new UsageError('--window is required, such as --window 1m')
  return { replay, windowMs: suggest.windowMs, limit: policies[0]?.limit }
}
