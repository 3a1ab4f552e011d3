import type { ProcessDocument } from './process-document.js'

/** A process has vanished whose next report is three quarters of its time late: after 3.5 s, while a page is open. */
const MISSED_REPORTS = 1.75
/** A process that last said that its store is late, or does not reply, has that much longer to report again. */
const OUTAGE_MS = 30_000
/** Clocks that differ by less are taken for equal. */
const MAX_SKEW_MS = 30_000
/** A document that was written longer ago than this, when it is first read, is of a process that has ended. */
const STALE_MS = 60_000

/** What tells whether a process lives. */
export interface Life {
  readonly document: ProcessDocument
  /** How long it has not changed, as far as this process has looked. */
  readonly silentMs: number
  /** When it changed; when it was written, for one that has not changed since it was first read. */
  readonly lastSeenMs: number
  readonly aheadMs: number
}

/** Returns what is known of a process once its document was read again. */
export function lifeOf(
  before: Life | undefined,
  document: ProcessDocument,
  nowMs: number,
  passedMs: number | undefined,
): Life {
  if (before === undefined) return firstLife(document, nowMs)
  if (before.document === document) return silentFor(before, passedMs)
  // Others drop the figures of a process that has ended.
  if (before.document.header.atMs === document.header.atMs)
    return { ...silentFor(before, passedMs), document }
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

/**
 * Returns the life of a process whose document has not changed since the last read, `passedMs` ago. A read adds at most
 * the time within which a report is due. One that has ended stays so.
 */
export function silentFor<L extends Life>(life: L, passedMs: number | undefined): L {
  if (isSilent(life)) return life
  const laterMs =
    passedMs === undefined ? 0 : life.silentMs + Math.min(passedMs, life.document.header.everyMs)
  return { ...life, silentMs: laterMs }
}

/** Returns whether a document has not changed for longer than it may. */
export function isSilent({ document, silentMs }: Life): boolean {
  const lateMs = silentMs - MISSED_REPORTS * document.header.everyMs
  return lateMs > 0 && (lateMs > OUTAGE_MS || !saysOutage(document))
}

function saysOutage({ limiters = [] }: ProcessDocument): boolean {
  return limiters.some(({ store }) => store.outage !== undefined)
}
