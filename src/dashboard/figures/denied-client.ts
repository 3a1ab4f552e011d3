import { shownIdentity } from '../../keys/value-identity.js'
import { DistinctCounter } from '../../util/distinct-sample.js'
import { FrequentNames } from '../../util/frequent.js'
import { sumCounts } from './counts.js'
import type { Origin } from './origin.js'
import type { DeniedRow } from './report.js'

const MAX_ROUTES = 8
/** Up to how many networks of a client are counted exactly. */
const MAX_NETWORKS = 16
/** How many routes of a client are reported. */
export const CLIENT_ROUTES = 5
/** At most this many networks act together. */
export const FEW_NETWORKS = 10
/** How many networks of a client are reported: with one more than that, findings see that they are not few. */
export const CLIENT_NETWORKS = FEW_NETWORKS + 1
/** Up to how many addresses of a client are counted exactly. */
export const CLIENT_ADDRESSES = 256
/** Rates are of the last 30 to 60 seconds, or since the first denial. */
const RATE_SPAN_MS = 30_000
/** A few denials within a shorter time say nothing of a rate. */
const MIN_RATE_MS = 10_000
/** How long a client that is no longer denied keeps its row. */
export const ROW_MS = 10_000

/** What is counted of a client that a limit has denied. */
export interface DeniedClient {
  readonly limitName: string
  /** As it is in keys. */
  readonly identity: string
  readonly firstMs: number
  lastMs: number
  denied: number
  /** When the current span of the rate began, and how often the client was denied in it and in the one before. */
  spanMs: number
  current: number
  previous: number
  readonly routes: FrequentNames
  readonly networks: FrequentNames
  readonly addresses: DistinctCounter
  label: string | undefined
  /** As it was reported last, unless it was denied since, and when. */
  row: DeniedRow | undefined
  rowMs: number
}

/** Returns a client that is about to be denied for the first time. */
export function newClient(nowMs: number, limitName: string, identity: string): DeniedClient {
  return {
    limitName,
    identity,
    firstMs: nowMs,
    lastMs: nowMs,
    denied: 0,
    spanMs: nowMs,
    current: 0,
    previous: 0,
    routes: new FrequentNames(MAX_ROUTES),
    networks: new FrequentNames(MAX_NETWORKS),
    addresses: new DistinctCounter(CLIENT_ADDRESSES),
    label: undefined,
    row: undefined,
    rowMs: 0,
  }
}

/** Counts a denial. Calls `readLabel` if the client has none yet. */
export function countDenial(
  client: DeniedClient,
  nowMs: number,
  { route, addressHash, network }: Origin,
  readLabel: (() => string | undefined) | undefined,
): void {
  client.denied++
  client.row = undefined
  client.lastMs = Math.max(client.lastMs, nowMs)
  advanceRate(client, nowMs)
  client.current++
  if (route !== undefined) client.routes.count(route)
  if (network !== undefined) client.networks.count(network)
  if (addressHash !== undefined) client.addresses.addHash(addressHash)
  if (readLabel !== undefined) client.label ??= readLabel()
}

/** A clock that steps back goes on in the current span. */
function advanceRate(client: DeniedClient, nowMs: number): void {
  const passed = Math.floor((nowMs - client.spanMs) / RATE_SPAN_MS)
  if (passed <= 0) return
  client.previous = passed === 1 ? client.current : 0
  client.current = 0
  client.spanMs += passed * RATE_SPAN_MS
}

/** While a client is not denied, only its rate changes: by steps, so that its row stays the same for a while. */
export function rowOf(client: DeniedClient, nowMs: number): DeniedRow {
  if (client.row !== undefined && Math.abs(nowMs - client.rowMs) < ROW_MS) return client.row
  client.rowMs = nowMs
  advanceRate(client, nowMs)
  const sinceMs = Math.max(client.firstMs, client.spanMs - RATE_SPAN_MS)
  const seconds = Math.max(MIN_RATE_MS, nowMs - sinceMs) / 1000
  const counted = client.current + client.previous
  const isFirst = sinceMs === client.firstMs // the span begins with a denial, so that its intervals are one fewer
  const perSecond = (isFirst && counted > 1 ? counted - 1 : counted) / seconds
  const { row = newRow(client) } = client
  client.row = row.perSecond === perSecond ? row : { ...row, perSecond }
  return client.row
}

function newRow(client: DeniedClient): DeniedRow {
  return {
    limitName: client.limitName,
    identity: shownIdentity(client.identity),
    denied: client.denied,
    perSecond: 0,
    firstMs: client.firstMs,
    lastMs: client.lastMs,
    routes: sumCounts([client.routes.entries()]).slice(0, CLIENT_ROUTES),
    networks: sumCounts([client.networks.entries()]).slice(0, CLIENT_NETWORKS),
    addresses: client.addresses,
  }
}
