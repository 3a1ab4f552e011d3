import type { LimitPreview } from '../../tuning/preview/preview.js'
import type { ChangePreview } from '../../tuning/preview/preview-change.js'
import type { NamedClient } from '../../tuning/preview/preview-counts.js'
import { escapeUnprintable } from '../../util/printable.js'
import { count, isoTime, printable, timeText } from '../output.js'

/** How many clients are listed. `--json` has more. */
const SHOWN = 5

/** Returns what a change would have done; a text is why that is not known. */
export function previewText(preview: ChangePreview | string): string {
  const lines = typeof preview === 'string' ? [`preview: ${printable(preview)}`] : previewLines(preview)
  return `${lines.join('\n')}\n`
}

function previewLines({ limits, candidate = [] }: ChangePreview): readonly string[] {
  if (limits.length === 0) return ['preview: no process has published its limits yet']
  return [
    ...limits.flatMap((each) => limitLines('', each)),
    ...candidate.flatMap((each) => limitLines('candidate ', each)),
  ]
}

function limitLines(what: string, preview: LimitPreview): readonly string[] {
  const { limitName, clients, fromMs, toMs, problem, notes = [] } = preview
  const name = `preview of ${what}${printable(limitName)}`
  if (problem !== undefined) return [`${name}: ${problem}`]
  const span = `from ${timeText(isoTime(fromMs))} to ${timeText(isoTime(toMs))}`
  return [
    `${name}: ${clientsText(clients)} ${span}`,
    ...countLines(preview),
    ...notes.map((note) => `  ${escapeUnprintable(note)}`),
  ]
}

function countLines(preview: LimitPreview): readonly string[] {
  const { denied, wouldDeny, newlyDenied, newlyDeniedCount, noLongerDenied, noLongerDeniedCount, isBound } =
    preview
  const [most, least] = isBound ? ['at most ', 'at least '] : ['', '']
  return [
    `  denied at least once: ${clientsText(denied)}, and with the change ${most}${count(wouldDeny)}`,
    ...groupLine('newly denied', most, newlyDeniedCount, newlyDenied),
    ...groupLine('no longer denied', least, noLongerDeniedCount, noLongerDenied),
  ]
}

function groupLine(
  title: string,
  bound: string,
  total: number,
  named: readonly NamedClient[],
): readonly string[] {
  if (total === 0) return []
  const shown = named.slice(0, SHOWN).map(({ identity, peak }) => `${printable(identity)} (${count(peak)})`)
  return [
    `  ${title}: ${bound}${clientsText(total)}: ${shown.join(', ')}${total > shown.length ? ' and others' : ''}`,
  ]
}

function clientsText(clients: number): string {
  return `${count(clients)} ${clients === 1 ? 'client' : 'clients'}`
}
