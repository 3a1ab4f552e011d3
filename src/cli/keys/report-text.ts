import { durationText } from '../../util/durations.js'
import { groupBy } from '../../util/group-by.js'
import { count, printable, row, spanText, timeText } from '../output.js'
import type { KeySettings } from './arguments.js'
import type { KeyReport, StandingReport } from './inspect.js'

/** How many keys `inspect` shows to people, and how many names a line has. */
const MAX_SHOWN = 20
const MAX_NAMES = 10

const UNPUBLISHED =
  'Limiters publish their limits after the first charge, if they have a name and the store permits it.'

/** Returns what `inspect` found, as text for people. There is at least one key. */
export function standingsText(standings: readonly StandingReport[]): string {
  const shown = standings.slice(0, MAX_SHOWN).map((each) => standingLines(each).join('\n'))
  const more = standings.length - shown.length
  if (more > 0)
    shown.push(`${count(more)} more keys are denied for a shorter time, or not at all: --json lists them`)
  if (standings.some(({ of }) => of === null)) shown.push(UNPUBLISHED)
  return `${shown.join('\n\n')}\n`
}

function standingLines(report: StandingReport): string[] {
  const { bans, denials, denialsUntil, freshAt, of } = report
  const untilText = denialsUntil === null ? '' : `, counted until ${timeText(denialsUntil)}`
  return [
    nameOf(report),
    row('  policy', report.policy),
    ...unitLines(report),
    ...(denials ? [row('  denials', count(denials) + untilText)] : []),
    ...(bans ? [row('  bans', `${count(bans)} in a row`)] : []),
    ...(of === null ? [] : [row('  fresh', freshAt === null ? 'not by itself' : timeText(freshAt))]),
    row('  stored as', printable(report.identity)),
  ]
}

function unitLines(report: StandingReport): string[] {
  const { inUse, remaining, of, limited } = report
  if (inUse === null)
    return [
      row('  remaining', `${count(remaining ?? 0)} of ${count(of ?? 0)}`),
      row('  state', stateText(report)),
    ]
  const ofText = of === null ? ' (the limit is not published)' : ` of ${count(of)}`
  const state = limited === null ? [] : [row('  state', stateText(report))]
  return [row('  in use', count(inUse) + ofText), ...state]
}

function stateText({ limited, limitedForMs, limitedUntil }: StandingReport): string {
  if (limited === null) return 'not limited'
  if (limitedForMs === null) return `${limited} until units are refunded`
  return `${limited} until ${timeText(limitedUntil)}, for ${spanText(limitedForMs)}`
}

/** Returns what `release` did. */
export function releasedText({ identity }: KeySettings, keys: readonly KeyReport[]): string {
  return `released ${quoted(identity)} from ${namesText(keys)}\n`
}

/** Returns what `block` did. */
export function blockedText({ identity }: KeySettings, keys: readonly KeyReport[], banMs: number): string {
  return `banned ${quoted(identity)} for ${durationText(banMs)} by ${namesText(keys)}\n`
}

/** Returns the names of limits, each with the number of its keys if there are several. */
function namesText(keys: readonly KeyReport[]): string {
  const names = Array.from(groupBy(keys, nameOf), ([name, { length }]) => {
    return length === 1 ? name : `${name} (${count(length)} keys)`
  })
  return listText(names)
}

/** Returns names as a sentence has them, each once. */
export function listText(names: readonly string[]): string {
  const distinct = [...new Set(names)]
  const more = distinct.length - MAX_NAMES
  return more > 0 ? `${distinct.slice(0, MAX_NAMES).join(', ')} and ${count(more)} more` : distinct.join(', ')
}

/** Returns an identity as a sentence has it. */
export function quoted(identity: string): string {
  return `"${printable(identity)}"`
}

/** Returns a limit's name, such as `login/account`. */
function nameOf({ limiter, limit, candidate }: KeyReport): string {
  const name = limit === null ? limiter : `${limiter}/${limit}`
  return candidate ? `${name} (candidate)` : name
}
