import type { ServerResponse } from 'node:http'
import type { Board } from '../figures/board.js'
import { RequestError } from './respond.js'

/** So many pages are served at a time. */
const MAX_LISTENERS = 20
const EVERY_MS = 1000
/** A page connects again after this time, so that `authorize` is asked again. */
const LONGEST_MS = 300_000
/** A page that reads too slowly misses snapshots, and no memory is kept for them. */
const MAX_UNREAD_BYTES = 1_048_576

/** Sends snapshots to open pages, as server-sent events (HTML Living Standard, 9.2). */
export interface EventStream {
  /** Sends snapshots from now on. Throws a `RequestError` where too many pages are open. */
  add(res: ServerResponse): void
  /** Ends the streams. */
  stop(): void
}

/** Creates a stream, which works only while a page is open. */
export function eventStream(board: Board): EventStream {
  const pages = new Map<ServerResponse, NodeJS.Timeout>()
  let timer: NodeJS.Timeout | undefined
  let isRefreshing = false

  async function sendAll(): Promise<void> {
    if (isRefreshing) return // the store is slow: the next snapshot has what it answers
    isRefreshing = true
    await board.refresh()
    isRefreshing = false
    const frame = frameOf(board)
    for (const res of pages.keys()) if (res.writableLength < MAX_UNREAD_BYTES) send(res, frame)
  }

  function remove(res: ServerResponse): void {
    clearTimeout(pages.get(res))
    pages.delete(res)
    if (pages.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    add(res) {
      if (pages.size >= MAX_LISTENERS)
        throw new RequestError(503, 'Too many pages are open. Close one of them.', { 'Retry-After': '10' })
      const ending = setTimeout(() => res.end(), LONGEST_MS)
      ending.unref()
      pages.set(res, ending)
      res.once('close', () => remove(res))
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
      send(res, `retry: 2000\n\n${frameOf(board)}`)
      timer ??= setInterval(sendAll, EVERY_MS).unref()
      void sendAll() // with what other processes reported
    },
    stop() {
      for (const res of pages.keys()) res.end()
    },
  }
}

function frameOf(board: Board): string {
  return `data: ${JSON.stringify(board.snapshot())}\n\n`
}

/** Writes, and has the package `compression`, where it is used, send at once. */
function send(res: ServerResponse, text: string): void {
  res.write(text)
  ;(res as { flush?: () => void }).flush?.()
}
