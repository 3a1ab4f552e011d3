import type { ResponseWriter } from './response-writer.js'

/**
 * Matches headers of earlier middleware that a denial must not have: `Retry-After`, and those that let a
 * cache store or revalidate a response. `Cache-Control: no-store` alone does not stop all caches. CDNs give
 * priority to targeted fields, whose names end in `-Cache-Control` (RFC 9213), and nginx to
 * `X-Accel-Expires`.
 */
const UNFIT =
  /(^|-)cache-control$|^(expires|etag|last-modified|retry-after|surrogate-control|edge-control|x-accel-expires)$/i

/** Removes the headers of earlier middleware that a denial must not have, and returns them. */
export function removeEarlier<Res>(writer: ResponseWriter<Res>, res: Res): Map<string, unknown> {
  const removed = new Map<string, unknown>()
  for (const name of writer.headerNames(res)) {
    if (!UNFIT.test(name)) continue
    removed.set(name, writer.getHeader(res, name))
    writer.removeHeader(res, name)
  }
  return removed
}
