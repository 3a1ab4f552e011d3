import type { ServerResponse } from 'node:http'
import { beforeHeaders } from './before-headers.js'

/**
 * Matches headers that let a cache store or revalidate a response. `Cache-Control: no-store` alone does not
 * stop all caches. CDNs give priority to targeted fields, whose names end in `-Cache-Control` (RFC 9213), and
 * nginx to `X-Accel-Expires`.
 */
export const FOR_CACHES =
  /(^|-)cache-control$|^(expires|etag|last-modified|surrogate-control|edge-control|x-accel-expires)$/i

/**
 * Keeps a denial out of caches, whatever outer middleware sets on each response before its headers are sent:
 * after `await next()`, in an `onSend` hook, or in a patched `writeHead`.
 */
export function keepUncacheable(res: ServerResponse): void {
  beforeHeaders(res, () => {
    for (const name of res.getHeaderNames()) if (FOR_CACHES.test(name)) res.removeHeader(name)
    res.setHeader('Cache-Control', 'no-store')
    ignoreForCaches(res, 'setHeader') // middleware that patched `writeHead` earlier calls it next
    ignoreForCaches(res, 'appendHeader')
  })
}

function ignoreForCaches(res: ServerResponse, method: 'setHeader' | 'appendHeader'): void {
  const original = res[method] as (name: string, value: never) => ServerResponse

  function setUnlessForCaches(this: ServerResponse, name: string, value: never): ServerResponse {
    return FOR_CACHES.test(name) ? this : original.call(this, name, value)
  }

  res[method] = setUnlessForCaches as never
}

/** Returns whether middleware has patched a response, as the package on-headers does. */
export function isPatched(res: ServerResponse): boolean {
  return Object.hasOwn(res, 'writeHead') || Object.hasOwn(res, 'end')
}
