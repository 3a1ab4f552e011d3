import type { IncomingMessage } from 'node:http'
import { show } from '../../util/validate.js'
import { hostOf } from './hosts.js'
import { RequestError } from './respond.js'

/**
 * Throws if a browser sent a request on behalf of another origin. Browsers say so in `Sec-Fetch-Site` (W3C
 * Fetch Metadata), or by an `Origin` that is neither the request's host nor one of `hosts`. Browsers from
 * before 2023 send only `Origin`, and so do all browsers over plain HTTP. A client that sends neither is not
 * a browser, and has no cookies to abuse. These are the rules of Go's `http.CrossOriginProtection`.
 */
export function checkOrigin(req: IncomingMessage, hosts: readonly string[]): void {
  const { 'sec-fetch-site': site, origin } = req.headers
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') throw new RequestError(403, OTHER_SITE)
    return
  }
  if (origin === undefined) return
  if (!URL.canParse(origin)) throw new RequestError(403, OTHER_SITE)
  const from = new URL(origin).host
  const host = hostOf(req)
  if (from !== host && !hosts.includes(from))
    throw new RequestError(403, `${OTHER_SITE} ${fixFor(from, host)}`)
}

const OTHER_SITE = 'The request comes from another site.'

/** What to do if the sites differ only because a proxy has replaced the header `Host`. */
function fixFor(from: string, host = ''): string {
  const differing = `Its Origin is ${show(from)}, its Host ${show(host)}.`
  return (
    `${differing} If a proxy replaces Host, have it pass on the original (nginx: proxy_set_header Host ` +
    `$http_host;), or write hosts: [${show(from)}] in the options of dashboard.`
  )
}
