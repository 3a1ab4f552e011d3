import type { Finding, Level, OverviewRow, ShownOutage, ShownProcess } from '../figures/shown.js'
import { outageFinding } from './store-outage.js'
import { listText, NO_TARGETS, percentText, timeMark } from './words.js'

/** What is wrong, for the top of the page. */
export interface Headline {
  /** The limiter that it is about; absent if it is about a store or a process. */
  readonly limiter?: string
  readonly finding: Finding
}

const URGENCY: Readonly<Record<Level, number>> = { critical: 2, warning: 1, calm: 0 }

/**
 * Returns what is wrong, the most urgent first: stores that do not decide, each once, and processes that are
 * gone, then limiters, in the order of the rows.
 */
export function headlinesOf(
  rows: readonly OverviewRow[],
  outages: readonly ShownOutage[],
  processes: readonly ShownProcess[],
): readonly Headline[] {
  const gone = processes.filter(({ state }) => state === 'gone')
  const ofLimiters = rows.filter(({ finding }) => finding.level !== 'calm' && finding.kind !== 'store-outage')
  const headlines: readonly Headline[] = [
    ...outages.map((outage) => ({ finding: storeFinding(outage) })),
    ...(gone.length > 0 ? [{ finding: goneFinding(gone, processes) }] : []),
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

/** Processes that stopped without being closed: they crashed, were killed, hang, or are cut off. */
function goneFinding(gone: readonly ShownProcess[], all: readonly ShownProcess[]): Finding {
  const names = gone.map(({ host, pid }) => `${host} (pid ${pid})`)
  const sinceMs = Math.min(...gone.map(({ lastSeenMs }) => lastSeenMs))
  const [{ share }, ...others] = gone as [ShownProcess, ...ShownProcess[]]
  const alive = all.filter(({ state }) => state === 'alive').length
  const verb = others.length === 0 ? 'has been silent' : 'have been silent, the first of them'
  const decided =
    share > 0 && others.length === 0 ? `, which decided ${percentText(share)} of the requests,` : ''
  const left = `${alive} of ${alive + gone.length} processes still ${alive === 1 ? 'reports' : 'report'}`
  return {
    kind: 'process-gone',
    level: 'warning',
    sentence: `${listText(names, 'process', 'processes')}${decided} ${verb} since ${timeMark(sinceMs)}: ${left}`,
    sinceMs,
    ...NO_TARGETS,
  }
}
