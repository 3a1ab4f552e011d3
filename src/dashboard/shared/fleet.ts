import { once } from '../../util/memo.js'
import type { LimiterReport } from '../figures/report.js'
import { CHART_SLOTS, SLOT_MS } from '../figures/traffic.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'
import type { Slots } from './process-reports.js'
import { NO_CLIENTS } from './report-reader.js'
import { pastReport, shiftedReport } from './shifted-report.js'

/** How long the figures of a process that has ended are kept: as long as its traffic is in the chart. */
export const FIGURES_MS = CHART_SLOTS * SLOT_MS
/** How long a process that has ended is listed. */
export const LISTED_MS = 3_600_000
/** A process has vanished whose next report is three quarters of its time late: after 3.5 s, while a page is open. */
const MISSED_REPORTS = 1.75
/** Clocks that differ by less are taken for equal. */
const MAX_SKEW_MS = 30_000
/** A document that was written longer ago than this, when it is first read, is of a process that has ended. */
const STALE_MS = 60_000

/** A dashboard of another process, as this one sees it. All times are by the clock of this process. */
export interface Member {
  readonly header: ProcessHeader
  readonly state: 'alive' | 'closed' | 'gone'
  readonly lastSeenMs: number
  /** Absent if another version of this package wrote them. They are decoded when they are first read. */
  readonly reports?: readonly LimiterReport[]
}

/** What tells whether a process lives. */
interface Life {
  readonly document: ProcessDocument
  /** How long it has not changed, as far as this process has looked. */
  readonly silentMs: number
  /** When it changed; when it was written, for one that has not changed since it was first read. */
  readonly lastSeenMs: number
  readonly aheadMs: number
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
   * Takes the slots of a store, as they were read: those of figures, and those of clients. If more than `gapMs` have passed since the last time, the store or
   * this process stood still: the silence of the others starts over.
   */
  update(nowMs: number, slots: Slots, clientSlots: Slots, gapMs = LISTED_MS): void {
    const sinceLastMs = nowMs - this.#readMs
    const passedMs = sinceLastMs >= 0 && sinceLastMs <= gapMs ? sinceLastMs : undefined
    this.#readMs = nowMs
    const clients = new Map(documentsIn(clientSlots).map((each) => [keyOf(each.header), each]))
    const seen = documentsIn(slots).map((document) => {
      const key = keyOf(document.header)
      const before = this.#seen.get(key)
      return [key, seenOf(lifeOf(before, document, nowMs, passedMs), clients.get(key), before)] as const
    })
    this.#seen = new Map(seen)
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
    return Array.from(this.#seen.values(), memberOf)
  }
}

function documentsIn(slots: Slots): readonly ProcessDocument[] {
  return slots.flatMap((slot) => slot?.document ?? [])
}

function keyOf({ id, dashboard }: ProcessHeader): string {
  return `${id} ${dashboard}`
}

/** Returns what is known of a process once its document was read again. */
function lifeOf(
  before: Life | undefined,
  document: ProcessDocument,
  nowMs: number,
  passedMs: number | undefined,
): Life {
  if (before === undefined) return firstLife(document, nowMs)
  if (before.document === document) return silent(before, passedMs)
  // Others drop the figures of a process that has ended.
  if (before.document.header.atMs === document.header.atMs) return { ...silent(before, passedMs), document }
  const differenceMs = document.header.atMs - nowMs
  const aheadMs = Math.abs(differenceMs) > MAX_SKEW_MS ? differenceMs : 0
  return { document, silentMs: 0, lastSeenMs: nowMs, aheadMs }
}

/** A clock that is ahead shows at once, and one that is behind only once the document changes. */
function firstLife(document: ProcessDocument, nowMs: number): Life {
  const { atMs, everyMs } = document.header
  const aheadMs = atMs - nowMs > MAX_SKEW_MS ? atMs - nowMs : 0
  const lastSeenMs = Math.min(nowMs, atMs)
  const silentMs = nowMs - atMs > STALE_MS + everyMs ? Number.POSITIVE_INFINITY : 0
  return { document, silentMs, lastSeenMs, aheadMs }
}

/** A read adds at most the time within which a report is due. One that has ended stays so. */
function silent(life: Life, passedMs: number | undefined): Life {
  if (isSilent(life)) return life
  const { document, silentMs, lastSeenMs, aheadMs } = life
  const laterMs = passedMs === undefined ? 0 : silentMs + Math.min(passedMs, document.header.everyMs)
  return { document, silentMs: laterMs, lastSeenMs, aheadMs }
}

/** Adds what a process reports. It stays the same object while its documents do. */
function seenOf(life: Life, clients: ProcessDocument | undefined, before: Seen | undefined): Seen {
  const { document, aheadMs } = life
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

/** Returns whether a document has not changed for longer than it may. */
function isSilent({ document, silentMs }: Life): boolean {
  return silentMs > MISSED_REPORTS * document.header.everyMs
}

function memberOf(seen: Seen): Member {
  const { document, lastSeenMs, aheadMs, reports } = seen
  const { header } = document
  const state = header.closedAtMs !== undefined ? 'closed' : isSilent(seen) ? 'gone' : 'alive'
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
      return state === 'alive' ? reports() : reports().map(pastReport)
    },
  }
}
