import type { ServerResponse } from 'node:http'
import type { PageFigures } from '../figures/shown.js'
import { attemptRead } from './attempt.js'
import { RequestError, send, sendJson } from './respond.js'

/** What the page reads once, by the last segment of its path: `GET` and `HEAD`. */
export type PageData = ReadonlyMap<string, (res: ServerResponse, query: URLSearchParams) => Promise<void>>

/** Returns what the page reads besides its stream. */
export function pageData(figures: PageFigures): PageData {
  /** The last 24 hours of one limiter, or briefly of all. */
  async function history(res: ServerResponse, query: URLSearchParams): Promise<void> {
    const limiter = query.get('limiter')
    const shown = await figures.asOfNow()
    if (limiter === null)
      return sendJson(res, 200, Object.fromEntries(await attemptRead(() => shown.histories())))
    const found = await attemptRead(() => shown.history(limiter))
    if (found === undefined) throw new RequestError(404, 'There is no such limiter.')
    sendJson(res, 200, found)
  }

  /** The last events, one JSON object per line. */
  async function log(res: ServerResponse): Promise<void> {
    const shown = await figures.asOfNow()
    const lines = shown.events().map((event) => `${JSON.stringify(event)}\n`)
    res.setHeader('Content-Disposition', 'attachment; filename="headgate-events.jsonl"')
    send(res, 200, 'application/x-ndjson', lines.join(''))
  }

  return new Map(Object.entries({ history, log }))
}
