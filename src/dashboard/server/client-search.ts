import { MAX_BLOCKED } from '../figures/report.js'
import type { LimiterDetail, ShownClient } from '../figures/shown.js'

/** The most denied clients that a page is sent at a time; the search reaches the others. */
export const MAX_SENT_CLIENTS = MAX_BLOCKED

/** The details that a page is sent. */
export interface SentDetail extends LimiterDetail {
  /** How many of the clients that are kept match the search of the page. */
  readonly matching: number
}

/** Returns the details of a limiter with those denied clients that match a search. */
export function searchDetail(detail: LimiterDetail, search: string): SentDetail {
  const text = search.trim().toLowerCase()
  const found = text === '' ? detail.denied : detail.denied.filter((client) => matches(client, text))
  return { ...detail, denied: found.slice(0, MAX_SENT_CLIENTS), matching: found.length }
}

/** Returns whether a text in lower case occurs in what the page shows of a client. */
function matches({ identity, label, limitName, routes, networks }: ShownClient, text: string): boolean {
  const has = (shown: string | undefined) => shown?.toLowerCase().includes(text) === true
  return (
    has(identity) ||
    has(label) ||
    has(limitName) ||
    routes.some(({ route }) => has(route)) ||
    networks.some(({ network }) => has(network))
  )
}
