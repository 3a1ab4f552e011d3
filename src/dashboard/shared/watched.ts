import type { Documents } from '../../stores/documents.js'
import { fieldsOf } from '../../util/values.js'
import { sharedDocument } from './shared-document.js'

/** How long after the last renewal a page counts as open. */
const OPEN_MS = 15_000
const RENEW_MS = 5000

/** Whether any process serves an open page, so that all report more often. */
export interface WatchedMark {
  /** Says that this process serves a page. */
  renew(nowMs: number): Promise<void>
  /** Reads whether any does. */
  read(nowMs: number): Promise<void>
  isOpen(nowMs: number): boolean
}

/** Creates the mark of a prefix. */
export function watchedMark(documents: Documents, prefix: string, process: string): WatchedMark {
  const document = sharedDocument<{ readonly by: string; readonly atMs: number }>(
    documents,
    `${prefix}:dashboard:watched`,
    {
      decode({ by, atMs }) {
        return typeof by === 'string' && typeof atMs === 'number' ? { by, atMs } : undefined
      },
      encode: (mark) => mark,
    },
  )
  let openUntilMs = Number.NEGATIVE_INFINITY
  let last: unknown
  let renewedMs = Number.NEGATIVE_INFINITY

  /** Takes the mark. The clock of who wrote it may be wrong, so what counts is that it has changed. */
  function take(nowMs: number, mark: object | undefined): void {
    if (mark === last) return
    const isFirst = last === undefined
    last = mark
    const atMs = isFirst ? Math.min(nowMs, Number(fieldsOf(mark).atMs)) : nowMs
    if (mark !== undefined) openUntilMs = atMs + OPEN_MS
  }

  return {
    async renew(nowMs) {
      if (Math.abs(nowMs - renewedMs) < RENEW_MS) return
      await document.change(() => ({ by: process, atMs: nowMs }))
      renewedMs = nowMs
      openUntilMs = nowMs + OPEN_MS
    },
    async read(nowMs) {
      take(nowMs, await document.read())
    },
    isOpen: (nowMs) => nowMs < openUntilMs && openUntilMs - nowMs <= OPEN_MS,
  }
}
