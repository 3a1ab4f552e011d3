import type { LimiterReport } from '../figures/report.js'
import { CHART_SLOTS, SLOT_MS } from '../figures/traffic.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'
import type { Slot } from './process-slots.js'
import { pastReport, shiftedReport } from './shifted-report.js'

/** How long the figures of a process that has ended are kept: as long as its traffic is in the chart. */
export const FIGURES_MS = CHART_SLOTS * SLOT_MS
/** How long a process that has ended is listed. */
export const LISTED_MS = 3_600_000
/** A process has vanished that misses two reports, and is half as late again as a report may be. */
const MISSED_REPORTS = 2.5
/** Clocks that differ by less are taken for equal. */
const MAX_SKEW_MS = 30_000
/** A document that was written longer ago than this, when it is first read, is of a process that has ended. */
const STALE_MS = 60_000

/** A dashboard of another process, as this one sees it. All times are by the clock of this process. */
export interface Member {
  readonly header: ProcessHeader
  readonly state: 'alive' | 'closed' | 'gone'
  readonly lastSeenMs: number
  /** Absent if another version of this package wrote them. */
  readonly reports?: readonly LimiterReport[]
}

interface Seen {
  readonly document: ProcessDocument
  /** How long it has not changed, as far as this process has looked. */
  readonly silentMs: number
  /** When it changed; when it was written, for one that has not changed since it was first read. */
  readonly lastSeenMs: number
  readonly aheadMs: number
  /** The reports of `document`, with times by the clock of this process. */
  readonly reports: readonly LimiterReport[] | undefined
}

/**
 * Follows the other processes by what they write. Their clocks may be wrong, so a process lives as long as its
 * document changes.
 */
export class Fleet {
  #seen = new Map<string, Seen>()
  #readMs = Number.NEGATIVE_INFINITY

  /** Takes the slots of a store, as they were read. */
  update(nowMs: number, slots: readonly (Slot | undefined)[]): void {
    const passedMs = Math.max(0, Math.min(nowMs - this.#readMs, LISTED_MS))
    this.#readMs = nowMs
    const next = new Map<string, Seen>()
    for (const slot of slots) {
      if (slot?.document === undefined) continue
      const key = keyOf(slot.document.header)
      next.set(key, seenNow(this.#seen.get(key), slot.document, nowMs, passedMs))
    }
    this.#seen = next
  }

  /** Returns whether a process was last seen within a time: by default, within that for which it is listed. */
  isKept(nowMs: number, header: ProcessHeader, withinMs = LISTED_MS): boolean {
    const lastSeenMs = this.#seen.get(keyOf(header))?.lastSeenMs ?? Math.min(nowMs, header.atMs)
    return nowMs - lastSeenMs < withinMs
  }

  /** Returns whether this process has itself seen another live, or ended recently, and then fall silent. */
  sawEnd({ header, lastSeenMs }: Member): boolean {
    const seen = this.#seen.get(keyOf(header))
    return seen !== undefined && this.#readMs - lastSeenMs < FIGURES_MS && isSilent(seen)
  }

  members(nowMs: number): readonly Member[] {
    return Array.from(this.#seen.values(), (seen) => memberOf(seen, nowMs))
  }
}

function keyOf({ id, dashboard }: ProcessHeader): string {
  return `${id} ${dashboard}`
}

/** Returns what is known of a process once its document was read again. */
function seenNow(before: Seen | undefined, document: ProcessDocument, nowMs: number, passedMs: number): Seen {
  if (before === undefined) return seenFirst(document, nowMs)
  if (before.document === document) return silent(before, passedMs)
  // Others drop the figures of a process that has ended.
  if (before.document.header.atMs === document.header.atMs)
    return { ...silent(before, passedMs), document, reports: reportsOf(document, before.aheadMs) }
  const differenceMs = document.header.atMs - nowMs
  const aheadMs = Math.abs(differenceMs) > MAX_SKEW_MS ? differenceMs : 0
  return { document, silentMs: 0, lastSeenMs: nowMs, aheadMs, reports: reportsOf(document, aheadMs) }
}

/** A clock that is ahead shows at once, and one that is behind only once the document changes. */
function seenFirst(document: ProcessDocument, nowMs: number): Seen {
  const { atMs } = document.header
  const aheadMs = atMs - nowMs > MAX_SKEW_MS ? atMs - nowMs : 0
  const lastSeenMs = Math.min(nowMs, atMs)
  return { document, silentMs: 0, lastSeenMs, aheadMs, reports: reportsOf(document, aheadMs) }
}

/**
 * A read adds at most the time within which a report is due: if this process, or the store, stood still for
 * longer, the others may have reported once it went on.
 */
function silent(seen: Seen, passedMs: number): Seen {
  return { ...seen, silentMs: seen.silentMs + Math.min(passedMs, seen.document.header.everyMs) }
}

function reportsOf({ limiters }: ProcessDocument, aheadMs: number): readonly LimiterReport[] | undefined {
  return limiters?.map((report) => shiftedReport(report, aheadMs))
}

/** Returns whether a document has not changed for longer than it may. */
function isSilent({ document, silentMs }: Seen): boolean {
  return silentMs > MISSED_REPORTS * document.header.everyMs
}

function memberOf(seen: Seen, nowMs: number): Member {
  const { document, lastSeenMs, aheadMs, reports } = seen
  const { header } = document
  const isGone = isSilent(seen) || nowMs - lastSeenMs > STALE_MS + header.everyMs
  const state = header.closedAtMs !== undefined ? 'closed' : isGone ? 'gone' : 'alive'
  const shown = {
    ...header,
    startedAtMs: header.startedAtMs - aheadMs,
    atMs: header.atMs - aheadMs,
  }
  const member = { header: shown, state, lastSeenMs } as const
  if (reports === undefined) return member
  return { ...member, reports: state === 'alive' ? reports : reports.map(pastReport) }
}
