import { shownIdentity } from '../../keys/value-identity.js'
import { DistinctCounter } from '../../util/distinct-sample.js'
import { FrequentNames } from '../../util/frequent.js'
import { largest } from '../../util/largest.js'
import { sumCounts } from './counts.js'
import type { Origin } from './origin.js'
import type { DeniedRow } from './report.js'

/** How many clients of all limiters are kept: the most often denied. */
const MAX_CLIENTS = 10_000
/** How many more there may be before the least denied leave. So their search costs little per client. */
const SLACK = 1000
/** A client that has not been denied for this time is forgotten. */
export const FORGOTTEN_MS = 900_000
const MAX_ROUTES = 8
const MAX_NETWORKS = 16
/** How many networks and routes of a client are reported. */
export const LISTED_ORIGINS = 5
/** Up to how many addresses of a client are counted exactly. */
export const CLIENT_ADDRESSES = 256
/** Rates are of the last 30 to 60 seconds. */
const RATE_SPAN_MS = 30_000
/** How old the row of a client may be that is not denied any more. */
const ROW_MS = 10_000

interface Client {
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

/** The denied clients of all limiters of a dashboard. They share its memory. */
export class DeniedPool {
  readonly #members: Map<string, Client>[] = []
  #size = 0

  /** Creates the clients of one limiter. */
  join(): Map<string, Client> {
    const clients = new Map<string, Client>()
    this.#members.push(clients)
    return clients
  }

  get size(): number {
    return this.#size
  }

  added(nowMs: number): void {
    this.#size++
    if (this.#size > MAX_CLIENTS + SLACK) this.#keepMostDenied(nowMs)
  }

  removed(): void {
    this.#size--
  }

  #keepMostDenied(nowMs: number): void {
    const kept: number[] = []
    for (const clients of this.#members)
      for (const [key, { denied, lastMs }] of clients)
        if (nowMs - lastMs >= FORGOTTEN_MS) clients.delete(key)
        else kept.push(denied)
    const least = kept.sort((a, b) => b - a)[MAX_CLIENTS - 1] ?? 0
    // Of those denied as often as the last that stays, the latest to come may leave.
    let places = MAX_CLIENTS - kept.filter((denied) => denied > least).length
    this.#size = 0
    for (const clients of this.#members) {
      for (const [key, { denied }] of clients)
        if (denied < least || (denied === least && places-- <= 0)) clients.delete(key)
      this.#size += clients.size
    }
  }
}

/** The clients that a limiter has denied. */
export class DeniedClients {
  readonly #pool: DeniedPool
  readonly #clients: Map<string, Client>
  #forgotMs = Number.NEGATIVE_INFINITY

  constructor(pool: DeniedPool) {
    this.#pool = pool
    this.#clients = pool.join()
  }

  /** Counts a denial. Calls `readLabel` if the client has none yet. */
  count(
    nowMs: number,
    limitName: string,
    identity: string,
    { route, addressHash, network }: Origin,
    readLabel?: () => string | undefined,
  ): void {
    const client = this.#clientOf(nowMs, limitName, identity)
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

  /** How many clients there are. */
  get size(): number {
    return this.#clients.size
  }

  /** Returns the clients that were denied most, at most `most`, the first one most. */
  top(nowMs: number, most: number): readonly DeniedRow[] {
    this.#forget(nowMs)
    if (most === 0) return []
    return largest(this.#clients.values(), most, ({ denied }) => denied).map((client) => rowOf(client, nowMs))
  }

  /** Returns the identities in keys. */
  *identities(): Iterable<string> {
    for (const { identity } of this.#clients.values()) yield identity
  }

  /** Returns the label of a client as `top` shows it. */
  labels(): ReadonlyMap<string, string> {
    const labels = new Map<string, string>()
    for (const { limitName, identity, label } of this.#clients.values())
      if (label !== undefined) labels.set(clientKey(limitName, shownIdentity(identity)), label)
    return labels
  }

  #clientOf(nowMs: number, limitName: string, identity: string): Client {
    const key = clientKey(limitName, identity)
    const known = this.#clients.get(key)
    if (known !== undefined && nowMs - known.lastMs < FORGOTTEN_MS) return known
    const client: Client = {
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
    this.#clients.set(key, client)
    if (known === undefined) this.#pool.added(nowMs)
    return client
  }

  #forget(nowMs: number): void {
    if (Math.abs(nowMs - this.#forgotMs) < ROW_MS) return
    this.#forgotMs = nowMs
    for (const [key, { lastMs }] of this.#clients) {
      if (nowMs - lastMs < FORGOTTEN_MS) continue
      this.#clients.delete(key)
      this.#pool.removed()
    }
  }
}

/** Returns what tells clients apart. The name of a limit has no blank. */
export function clientKey(limitName: string, identity: string): string {
  return `${limitName} ${identity}`
}

/** A clock that steps back goes on in the current span. */
function advanceRate(client: Client, nowMs: number): void {
  const passed = Math.floor((nowMs - client.spanMs) / RATE_SPAN_MS)
  if (passed <= 0) return
  client.previous = passed === 1 ? client.current : 0
  client.current = 0
  client.spanMs += passed * RATE_SPAN_MS
}

/** While a client is not denied, only its rate changes: by steps, so that its row stays the same for a while. */
function rowOf(client: Client, nowMs: number): DeniedRow {
  if (client.row !== undefined && Math.abs(nowMs - client.rowMs) < ROW_MS) return client.row
  client.rowMs = nowMs
  advanceRate(client, nowMs)
  const sinceMs = Math.max(client.firstMs, client.spanMs - RATE_SPAN_MS)
  const seconds = Math.max(1, (nowMs - sinceMs) / 1000)
  const perSecond = (client.current + client.previous) / seconds
  const { row = newRow(client) } = client
  client.row = row.perSecond === perSecond ? row : { ...row, perSecond }
  return client.row
}

function newRow(client: Client): DeniedRow {
  return {
    limitName: client.limitName,
    identity: shownIdentity(client.identity),
    denied: client.denied,
    perSecond: 0,
    firstMs: client.firstMs,
    lastMs: client.lastMs,
    routes: sumCounts([client.routes.entries()]).slice(0, LISTED_ORIGINS),
    networks: sumCounts([client.networks.entries()]).slice(0, LISTED_ORIGINS),
    addresses: client.addresses,
  }
}
