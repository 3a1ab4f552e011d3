import type { ClientGroup, Proposal } from '../../tuning/proposal.js'
import { durationText } from '../../util/durations.js'
import { escapeUnprintable } from '../../util/printable.js'
import { count, printable, row } from '../output.js'

/** How many clients of a group are listed. */
const SHOWN = 10

/** Returns the sections about a proposal, for people. */
export function proposalLines(proposal: Proposal): readonly (readonly string[])[] {
  const { apart, newlyDenied } = proposal
  return [
    adviceLines(proposal),
    ...(proposal.quantiles.length === 0 ? [] : [quantileLines(proposal)]),
    ...(apart === undefined ? [] : [groupLines('set apart', apart)]),
    ...(newlyDenied === undefined ? [] : [newlyDeniedLines(newlyDenied, apart)]),
  ]
}

function adviceLines({ verdict, limit, inForce, windowMs, reason, cautions }: Proposal): readonly string[] {
  const texts = {
    set: `a limit of ${count(limit ?? 0)} in ${durationText(windowMs)}`,
    raise: `raise ${count(inForce ?? 0)} to ${count(limit ?? 0)} in ${durationText(windowMs)}`,
    lower: `lower ${count(inForce ?? 0)} to ${count(limit ?? 0)} in ${durationText(windowMs)}`,
    keep: `keep ${count(inForce ?? 0)} in ${durationText(windowMs)}`,
    unknown: 'none',
  }
  return [
    row('proposal', texts[verdict]),
    row('because', reason),
    ...cautions.map((text, i) => row(i === 0 ? 'but' : '', text)),
  ]
}

function quantileLines({ quantiles, windowMs }: Proposal): readonly string[] {
  const rows = quantiles.map(({ share, peak }) => {
    const name = share === 1 ? 'all clients' : `${Number((100 * share).toFixed(1))}% of clients`
    return `  ${name.padEnd(16)}  ${count(peak)}`
  })
  return [`asked for at most, in ${durationText(windowMs)}`, ...rows]
}

function newlyDeniedLines(denied: ClientGroup, apart: ClientGroup | undefined): readonly string[] {
  const isSame = denied.clients === apart?.clients && denied.smallestPeak === apart.smallestPeak
  return isSame ? ['newly denied: those set apart'] : groupLines('newly denied', denied)
}

function groupLines(title: string, { clients, largest }: ClientGroup): readonly string[] {
  const shown = largest.slice(0, SHOWN)
  const names = shown.map(({ identity, weight }) =>
    weight > 1 ? `${printable(identity)} and ${count(Math.round(weight) - 1)} more` : printable(identity),
  )
  const width = Math.max(...names.map((name) => name.length))
  const listed = shown.reduce((sum, { weight }) => sum + weight, 0)
  const rest = Math.max(0, clients - Math.round(listed))
  return [
    `${title}: ${count(clients)} ${clients === 1 ? 'client' : 'clients'}, with their most in a window`,
    ...shown.map(({ peak }, i) => `  ${(names[i] ?? '').padEnd(width)}  ${count(peak)}`),
    ...(rest === 0 ? [] : [`  and ${count(rest)} more`]),
  ]
}

/** Returns the command that shows what a proposal would have denied, and when. */
export function commandText({ limit }: Proposal, args: readonly string[]): readonly string[] {
  if (limit === undefined) return []
  const kept = withoutOptions(args)
  return [
    row('see also', `npx headgate replay ${[...kept, '--limit', String(limit)].map(shellWord).join(' ')}`),
  ]
}

/** Returns arguments of `tune` without those that `replay` must not get, and without the limit in force. */
function withoutOptions(args: readonly string[]): readonly string[] {
  return args.filter((arg, i) => {
    if (arg === '--json' || arg === '--limit' || arg.startsWith('--limit=')) return false
    return args[i - 1] !== '--limit'
  })
}

/** Returns an argument as a shell takes it. */
export function shellWord(arg: string): string {
  const text = escapeUnprintable(arg)
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
