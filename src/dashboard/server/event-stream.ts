import type { ServerResponse } from 'node:http'
import { onceClosed } from '../../http/response-end.js'
import { messageOf } from '../../stores/store-error.js'
import { inBackground } from '../../util/background-timer.js'
import { warnOnce } from '../../util/warn-once.js'
import type { PageFigures } from '../figures/shown.js'
import { Changes, type View } from './changes.js'
import { RequestError } from './respond.js'
import type { Session } from './session.js'

/** The most pages that are served at a time. */
const MAX_LISTENERS = 20
const EVERY_MS = 1000
/** A page connects again after this time, so that `authorize` is asked again. */
const LONGEST_MS = 300_000
/** A page that reads too slowly misses frames, and gets their changes in a later one. */
const MAX_UNREAD_BYTES = 1_048_576

/** Sends frames to open pages, as server-sent events (HTML Living Standard, 9.2). */
export interface EventStream {
  /** Sends what a view shows from now on. Throws a `RequestError` if too many pages are open. */
  add(res: ServerResponse, view: View, session: Session): void
  /** Ends the streams, and begins no others. */
  stop(): void
}

interface Page {
  readonly view: View
  readonly timer: NodeJS.Timeout
  /** The tick whose figures it was sent last; 0 if none. */
  sentTick: number
}

/** Creates a stream, which works only while a page is open. */
export function eventStream(figures: PageFigures): EventStream {
  const pages = new Map<ServerResponse, Page>()
  const changes = new Changes(figures)
  let timer: NodeJS.Timeout | undefined
  let isRefreshing = false
  /** Whether `changes` are at most a second old: no longer, once no page is open. */
  let isFresh = false
  let isStopped = false

  async function sendAll(): Promise<void> {
    if (isRefreshing) return // the store is slow: the next frame has its reply
    isRefreshing = true
    try {
      await figures.refresh()
      sendChanges()
    } catch (error) {
      // the page shows what it has, and the next second may be better
      warnOnce(
        'HEADGATE_DASHBOARD_FAILED',
        `headgate: the dashboard could not read figures (${messageOf(error)}).`,
        'stream',
      )
    }
    isRefreshing = false
  }

  function sendChanges(): void {
    if (pages.size === 0) return
    changes.advance(Date.now())
    isFresh = true
    for (const [res, page] of pages) sendTo(res, page)
  }

  function sendTo(res: ServerResponse, page: Page): void {
    if (res.writableEnded || res.writableLength >= MAX_UNREAD_BYTES) return
    send(res, `data: ${changes.frameSince(page.sentTick, page.view)}\n\n`)
    page.sentTick = changes.tick
  }

  function remove(res: ServerResponse): void {
    clearTimeout(pages.get(res)?.timer)
    pages.delete(res)
    if (pages.size > 0) return
    clearInterval(timer)
    timer = undefined
    isFresh = false
  }

  /** Ends a stream, and also the connection if the page has not read all: it may never do so. */
  function end(res: ServerResponse): void {
    remove(res)
    if (res.writableLength > 0) res.destroy()
    else res.end()
  }

  return {
    add(res, view, session) {
      if (isStopped) throw new RequestError(503, 'The dashboard is closed.')
      if (pages.size >= MAX_LISTENERS)
        throw new RequestError(503, 'Too many pages are open. Close one of them.', { 'Retry-After': '10' })
      const page = { view, timer: inBackground(setTimeout(() => end(res), LONGEST_MS)), sentTick: 0 }
      pages.set(res, page)
      onceClosed(res, () => remove(res))
      if (!pages.has(res)) return // the client has gone meanwhile
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
      send(res, `retry: 2000\n\nevent: session\ndata: ${JSON.stringify(session)}\n\n`)
      if (isFresh) return sendTo(res, page)
      timer ??= inBackground(setInterval(sendAll, EVERY_MS))
      void sendAll() // so that the first frame also has what other processes reported
    },
    stop() {
      isStopped = true
      for (const res of [...pages.keys()]) end(res)
    },
  }
}

/** Writes, and has the package `compression`, if it is used, send at once. */
function send(res: ServerResponse & { readonly flush?: () => void }, text: string): void {
  res.write(text)
  res.flush?.()
}
