import type { Finding, Level, OverviewRow, ShownOutage, ShownProcess } from '../figures/shown.js'
import { processesGone } from './processes-gone.js'
import { outageFinding } from './store-outage.js'

/** What is wrong, for the top of the page. */
export interface Headline {
  /** The limiter that it is about; absent if it is about a store or a process. */
  readonly limiter?: string
  readonly finding: Finding
}

const URGENCY: Readonly<Record<Level, number>> = { critical: 2, warning: 1, calm: 0 }

/**
 * Returns what is wrong, the most urgent first: stores that do not decide, each once, and processes that are
 * gone, then limiters, in the order of the rows. `stores` are those that processes may be cut off from.
 */
export function headlinesOf(
  rows: readonly OverviewRow[],
  outages: readonly ShownOutage[],
  processes: readonly ShownProcess[],
  stores: readonly string[] = [],
): readonly Headline[] {
  const gone = processesGone(processes, stores)
  const ofLimiters = rows.filter(({ finding }) => finding.level !== 'calm' && finding.kind !== 'store-outage')
  const headlines: readonly Headline[] = [
    ...outages.map((outage) => ({ finding: storeFinding(outage) })),
    ...(gone === undefined ? [] : [{ finding: gone }]),
    ...ofLimiters.map(({ name, finding }) => ({ limiter: name, finding })),
  ]
  return [...headlines].sort((a, b) => URGENCY[b.finding.level] - URGENCY[a.finding.level])
}

/** Says what requests get if they get the same at all limiters. */
function storeFinding(outage: ShownOutage): Finding {
  const texts = new Set(outage.effects.map(({ text }) => text))
  const [text = ''] = texts
  return outageFinding(outage, texts.size > 1 ? `${outage.effects.length} limiters are affected` : text)
}
