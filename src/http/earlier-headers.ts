import { FOR_CACHES } from './keep-uncacheable.js'
import type { ResponseWriter } from './response-writer.js'

/** Removes the headers of earlier middleware that a denial must not have, and returns them. */
export function removeEarlier<Res>(writer: ResponseWriter<Res>, res: Res): Map<string, unknown> {
  const removed = new Map<string, unknown>()
  for (const name of writer.headerNames(res)) {
    if (!FOR_CACHES.test(name) && name.toLowerCase() !== 'retry-after') continue
    removed.set(name, writer.getHeader(res, name))
    writer.removeHeader(res, name)
  }
  return removed
}
