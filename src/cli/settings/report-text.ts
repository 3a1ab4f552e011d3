import type {
  ChangedPart,
  PartValue,
  SettingsChange,
  SettingsOverride,
} from '../../limiter/settings-document.js'
import type { SettingsConflictError } from '../../settings/conflict.js'
import type { PartInForce } from '../../settings/in-force.js'
import { isObject } from '../../util/values.js'
import { count, isoTime, printable, timeText } from '../output.js'
import type { LimitInForce } from './read.js'

const ID_LENGTH = 8
/** How many lines of a difference people are shown. `--json` has all. */
const MAX_LINES = 50

/** What `settings show` prints. */
export interface ShownSettings {
  readonly limiter: string
  readonly base: string | null
  readonly limits: readonly LimitInForce[]
  readonly parts: readonly PartInForce[]
}

/** Returns the text of `settings show`. */
export function showText({ limiter, base, limits, parts }: ShownSettings): string {
  const inForce = limits.map(({ name, policy }) => `  ${printable(name).padEnd(20)}  ${policy}`)
  const noLimits = '  no process has published them yet'
  const set = parts.flatMap(({ path, value, change }) => [
    `  ${printable(path)}  ${valueText(value)}`,
    `    ${change === undefined ? 'set before the history began' : noteText(change)}`,
  ])
  return [
    `limits of ${limiter} in force`,
    ...(inForce.length === 0 ? [noLimits] : inForce),
    '',
    ...(set.length === 0
      ? ['settings: none, so the code decides']
      : ['settings', ...set.slice(0, MAX_LINES * 2)]),
    ...moreLines(parts.length),
    '',
    `version ${base === null ? 'none' : shortId(base)}`,
    '',
  ].join('\n')
}

/** Returns the text of `settings history`. */
export function historyText(changes: readonly SettingsChange[]): string {
  if (changes.length === 0) return 'no changes\n'
  const blocks = changes.map((change) => {
    const undoes = change.undoes === undefined ? '' : `, undoes ${shortId(change.undoes)}`
    return [`${shortId(change.id)}  ${noteText(change)}${undoes}`, ...partLines(change)].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}

/** Returns what a change changes, and the limits in it that the limiter may not have. */
export function differenceText(
  limiter: string,
  change: SettingsChange,
  unknownLimits: readonly string[],
): string {
  const notes = unknownLimits.map((name) => {
    return `note: ${limiter} has published no limit ${printable(name)}: headgate settings show ${limiter} lists its limits`
  })
  return `${[...partLines(change), ...notes].join('\n')}\n`
}

/** Returns what is said of a change that was saved: how to undo it. */
export function savedText(limiter: string, { id }: SettingsChange): string {
  return `changed; to undo it: headgate settings undo ${limiter} ${shortId(id)} --reason <text>\n`
}

/** Returns the difference of each part that two operators have changed. */
export function conflictText({ parts, changes }: SettingsConflictError): string {
  const lines = parts
    .slice(0, MAX_LINES)
    .flatMap(({ path, before, theirs, yours, change }) => [
      `  ${printable(path)}`,
      `    before  ${valueText(before)}`,
      `    theirs  ${valueText(theirs)}${change === undefined ? '' : `  (${noteText(change)})`}`,
      `    yours   ${valueText(yours)}`,
    ])
  const since = changes.map((change) => `  ${shortId(change.id)}  ${noteText(change)}`)
  const conflicts = lines.length === 0 ? [] : ['conflicts', ...lines]
  return `${[...conflicts, 'changes since', ...since.slice(0, MAX_LINES)].join('\n')}\n`
}

function partLines({ parts, partCount }: SettingsChange): string[] {
  if (parts === undefined) {
    const what = partCount === undefined ? 'not recorded' : `${count(partCount)} parts, too many to keep`
    return [`  ${what}`]
  }
  return [...parts.slice(0, MAX_LINES).map(partLine), ...moreLines(parts.length)]
}

function moreLines(length: number): string[] {
  return length > MAX_LINES ? [`  and ${count(length - MAX_LINES)} more: --json lists them`] : []
}

function partLine({ path, before, after }: ChangedPart): string {
  return `  ${printable(path)}  ${valueText(before)} -> ${valueText(after)}`
}

/** Returns a value on one line. An override is shown without its target, which its path has. */
function valueText(value: PartValue | undefined): string {
  if (value === undefined) return 'none'
  if (!isObject(value)) return printable(String(value))
  const {
    identity: _i,
    storedIdentity: _s,
    identityPrefix: _p,
    network: _n,
    ...others
  } = value as SettingsOverride
  return printable(JSON.stringify(others))
}

function noteText({ by, reason, atMs }: SettingsChange): string {
  return `${timeText(isoTime(atMs))} ${printable(by)}: ${printable(reason)}`
}

function shortId(id: string): string {
  return printable(id.slice(0, ID_LENGTH))
}
