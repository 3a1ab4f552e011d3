import { once } from '../../util/memo.js'
import type { LimiterReport } from '../figures/report.js'
import { CHART_SLOTS, SLOT_MS } from '../figures/traffic.js'
import { isSilent, type Life, lifeOf, silentFor } from './life.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'
import type { Slots } from './process-reports.js'
import { NO_CLIENTS } from './report-reader.js'
import { pastReport, shiftedReport } from './shifted-report.js'

/** How long the figures of a process that has ended are kept: as long as its traffic is in the chart. */
export const FIGURES_MS = CHART_SLOTS * SLOT_MS
/** How long a process that has ended is listed. */
export const LISTED_MS = 3_600_000
/** A dashboard of another process, as this one sees it. All times are by the clock of this process. */
export interface Member {
  readonly header: ProcessHeader
  readonly state: 'alive' | 'closed' | 'gone'
  readonly lastSeenMs: number
  /** Absent if another version of this package wrote them. They are decoded when they are first read. */
  readonly reports?: readonly LimiterReport[]
}

interface Seen extends Life {
  /** What it says of its clients. */
  readonly clients: ProcessDocument | undefined
  /** Returns the reports of both documents, with times by the clock of this process. */
  readonly reports: (() => readonly LimiterReport[]) | undefined
}

/**
 * Follows the other processes by what they write. Their clocks may be wrong, so a process lives as long as its
 * document changes.
 */
export class Fleet {
  #seen = new Map<string, Seen>()
  #readMs = Number.NEGATIVE_INFINITY

  /**
   * Takes the slots of a store, as they were read: those of figures, and those of clients. If more than `gapMs` have
   * passed since the last time, the store or this process stood still: the silence of the others starts over. What a
   * store has lost of a process that lives is still known, until the process writes it again.
   */
  update(nowMs: number, slots: Slots, clientSlots: Slots, gapMs = LISTED_MS): void {
    const sinceLastMs = nowMs - this.#readMs
    const passedMs = sinceLastMs >= 0 && sinceLastMs <= gapMs ? sinceLastMs : undefined
    this.#readMs = nowMs
    const clients = new Map(documentsIn(clientSlots).map((each) => [keyOf(each.header), each]))
    const lost = new Map(this.#seen)
    const seen = new Map<string, Seen>()
    for (const document of documentsIn(slots)) {
      const key = keyOf(document.header)
      const before = lost.get(key)
      lost.delete(key)
      seen.set(key, seenOf(lifeOf(before, document, nowMs, passedMs), clients.get(key), before))
    }
    for (const [key, before] of lost) {
      const life = silentFor(before, passedMs)
      if (stateOf(life) === 'alive') seen.set(key, seenOf(life, clients.get(key), before))
    }
    this.#seen = seen
  }

  /** Returns whether a process was last seen within a time: by default, within that for which it is listed. */
  isKept(nowMs: number, header: ProcessHeader, withinMs = LISTED_MS): boolean {
    const lastSeenMs = this.#seen.get(keyOf(header))?.lastSeenMs ?? Math.min(nowMs, header.atMs)
    return nowMs - lastSeenMs < withinMs
  }

  /** Returns whether this process has itself seen another fall silent, and recently. */
  sawEnd({ header, lastSeenMs }: Member): boolean {
    const seen = this.#seen.get(keyOf(header))
    if (seen === undefined || !isSilent(seen)) return false
    return Number.isFinite(seen.silentMs) && this.#readMs - lastSeenMs < FIGURES_MS
  }

  members(): readonly Member[] {
    return Array.from(this.#seen.values(), (seen) => memberOf(seen, this.#readMs))
  }
}

function documentsIn(slots: Slots): readonly ProcessDocument[] {
  return slots.flatMap((slot) => slot?.document ?? [])
}

function keyOf({ id, dashboard }: ProcessHeader): string {
  return `${id} ${dashboard}`
}

/** Adds what a process reports. It stays the same object while its documents do. */
function seenOf(life: Life, found: ProcessDocument | undefined, before: Seen | undefined): Seen {
  const { document, aheadMs } = life
  const clients = found ?? (stateOf(life) === 'alive' ? before?.clients : undefined)
  const isSame = before?.document === document && before.clients === clients && before.aheadMs === aheadMs
  return { ...life, clients, reports: isSame ? before.reports : reportsOf(document, clients, aheadMs) }
}

function reportsOf(
  document: ProcessDocument,
  clients: ProcessDocument | undefined,
  aheadMs: number,
): Seen['reports'] {
  if (!('limiters' in document)) return undefined
  return once(() => {
    const { limiters = [] } = document
    const reports = limiters.map((figures): LimiterReport => {
      return { ...figures, ...(clients?.clients?.get(figures.name) ?? NO_CLIENTS) }
    })
    return reports.map((report) => shiftedReport(report, aheadMs))
  })
}

function stateOf(life: Life): Member['state'] {
  if (life.document.header.closedAtMs !== undefined) return 'closed'
  return isSilent(life) ? 'gone' : 'alive'
}

function memberOf(seen: Seen, nowMs: number): Member {
  const { document, lastSeenMs, aheadMs, reports } = seen
  const { header } = document
  const state = stateOf(seen)
  const shown = {
    ...header,
    startedAtMs: header.startedAtMs - aheadMs,
    atMs: header.atMs - aheadMs,
  }
  const member = { header: shown, state, lastSeenMs } as const
  if (reports === undefined) return member
  return {
    ...member,
    get reports() {
      return state === 'alive' ? reports() : reports().map((each) => pastReport(each, nowMs - lastSeenMs))
    },
  }
}
