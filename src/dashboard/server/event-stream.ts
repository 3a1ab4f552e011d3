import type { ServerResponse } from 'node:http'
import { onceClosed } from '../../http/response-end.js'
import { inBackground } from '../../util/background-timer.js'
import type { Board } from '../figures/board.js'
import { RequestError } from './respond.js'

/** The most pages that are served at a time. */
const MAX_LISTENERS = 20
const EVERY_MS = 1000
/** A page connects again after this time, so that `authorize` is asked again. */
const LONGEST_MS = 300_000
/** A page that reads too slowly misses snapshots, and no memory is kept for them. */
const MAX_UNREAD_BYTES = 1_048_576

/** Sends snapshots to open pages, as server-sent events (HTML Living Standard, 9.2). */
export interface EventStream {
  /** Sends snapshots from now on. Throws a `RequestError` if too many pages are open. */
  add(res: ServerResponse): void
  /** Ends the streams, and begins no others. */
  stop(): void
}

/** Creates a stream, which works only while a page is open. */
export function eventStream(board: Board): EventStream {
  const pages = new Map<ServerResponse, NodeJS.Timeout>()
  let timer: NodeJS.Timeout | undefined
  let isRefreshing = false
  let isStopped = false

  async function sendAll(): Promise<void> {
    if (isRefreshing) return // the store is slow: the next snapshot has its reply
    isRefreshing = true
    await board.refresh()
    isRefreshing = false
    if (pages.size === 0) return
    const frame = frameOf(board)
    for (const res of pages.keys())
      if (!res.writableEnded && res.writableLength < MAX_UNREAD_BYTES) send(res, frame)
  }

  function remove(res: ServerResponse): void {
    clearTimeout(pages.get(res))
    pages.delete(res)
    if (pages.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  /** Ends a stream, and also the connection if the page has not read all: it may never do so. */
  function end(res: ServerResponse): void {
    remove(res)
    if (res.writableLength > 0) res.destroy()
    else res.end()
  }

  return {
    add(res) {
      if (isStopped) throw new RequestError(503, 'The dashboard is closed.')
      if (pages.size >= MAX_LISTENERS)
        throw new RequestError(503, 'Too many pages are open. Close one of them.', { 'Retry-After': '10' })
      pages.set(res, inBackground(setTimeout(() => end(res), LONGEST_MS)))
      onceClosed(res, () => remove(res))
      if (!pages.has(res)) return // the client has gone meanwhile
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
      send(res, 'retry: 2000\n\n')
      timer ??= inBackground(setInterval(sendAll, EVERY_MS))
      void sendAll() // so that the first snapshot also has what other processes reported
    },
    stop() {
      isStopped = true
      for (const res of [...pages.keys()]) end(res)
    },
  }
}

function frameOf(board: Board): string {
  return `data: ${JSON.stringify(board.snapshot())}\n\n`
}

/** Writes, and has the package `compression`, if it is used, send at once. */
function send(res: ServerResponse & { readonly flush?: () => void }, text: string): void {
  res.write(text)
  res.flush?.()
}
