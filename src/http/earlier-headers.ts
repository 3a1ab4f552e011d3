import type { ResponseWriter } from './response-writer.js'

/**
 * Matches the headers of earlier middleware that no denial may have: `Retry-After`, and what tells a cache to
 * store a response or to revalidate it. `Cache-Control: no-store` alone is not enough. CDNs prefer targeted
 * fields, whose names end in `-Cache-Control` (RFC 9213), and nginx prefers `X-Accel-Expires`.
 */
const UNFIT =
  /(^|-)cache-control$|^(expires|etag|last-modified|retry-after|surrogate-control|edge-control|x-accel-expires)$/i

/** Removes the headers of earlier middleware that a denial may not have, and returns them. */
export function removeEarlier<Res>(writer: ResponseWriter<Res>, res: Res): Map<string, unknown> {
  const removed = new Map<string, unknown>()
  for (const name of writer.headerNames(res)) {
    if (!UNFIT.test(name)) continue
    removed.set(name, writer.getHeader(res, name))
    writer.removeHeader(res, name)
  }
  return removed
}
