import { once } from '../../util/memo.js'
import type { LimiterReport } from '../figures/report.js'
import { CHART_SLOTS, SLOT_MS } from '../figures/traffic.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'
import type { Slot } from './process-slots.js'
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

interface Seen {
  readonly document: ProcessDocument
  /** How long it has not changed, as far as this process has looked. */
  readonly silentMs: number
  /** When it changed; when it was written, for one that has not changed since it was first read. */
  readonly lastSeenMs: number
  readonly aheadMs: number
  /** Returns the reports of `document`, with times by the clock of this process. */
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
   * Takes the slots of a store, as they were read. If more than `gapMs` have passed since the last time, the store or
   * this process stood still: the silence of the others starts over.
   */
  update(nowMs: number, slots: readonly (Slot | undefined)[], gapMs = LISTED_MS): void {
    const sinceLastMs = nowMs - this.#readMs
    const passedMs = sinceLastMs >= 0 && sinceLastMs <= gapMs ? sinceLastMs : undefined
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

function keyOf({ id, dashboard }: ProcessHeader): string {
  return `${id} ${dashboard}`
}

/** Returns what is known of a process once its document was read again. */
function seenNow(
  before: Seen | undefined,
  document: ProcessDocument,
  nowMs: number,
  passedMs: number | undefined,
): Seen {
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
  const { atMs, everyMs } = document.header
  const aheadMs = atMs - nowMs > MAX_SKEW_MS ? atMs - nowMs : 0
  const lastSeenMs = Math.min(nowMs, atMs)
  const silentMs = nowMs - atMs > STALE_MS + everyMs ? Number.POSITIVE_INFINITY : 0
  return { document, silentMs, lastSeenMs, aheadMs, reports: reportsOf(document, aheadMs) }
}

/** A read adds at most the time within which a report is due. One that has ended stays so. */
function silent(seen: Seen, passedMs: number | undefined): Seen {
  if (isSilent(seen)) return seen
  if (passedMs === undefined) return { ...seen, silentMs: 0 }
  return { ...seen, silentMs: seen.silentMs + Math.min(passedMs, seen.document.header.everyMs) }
}

function reportsOf(document: ProcessDocument, aheadMs: number): Seen['reports'] {
  if (!('limiters' in document)) return undefined
  return once(() => (document.limiters ?? []).map((report) => shiftedReport(report, aheadMs)))
}

/** Returns whether a document has not changed for longer than it may. */
function isSilent({ document, silentMs }: Seen): boolean {
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
