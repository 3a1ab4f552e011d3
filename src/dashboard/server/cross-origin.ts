import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a browser sent a request on behalf of another origin. Browsers say so in `Sec-Fetch-Site`
 * (W3C Fetch Metadata), or, before 2023, by an `Origin` that is not the host. A client that sends neither is
 * not a browser, and has no cookies to abuse. These are the rules of Go's `http.CrossOriginProtection`.
 */
export function isCrossOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}
