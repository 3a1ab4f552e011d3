import { shownIdentity } from '../../keys/value-identity.js'
import { largest } from '../../util/largest.js'
import { countDenial, type DeniedClient, newClient, ROW_MS, rowOf } from './denied-client.js'
import { type DeniedPool, FORGOTTEN_MS } from './denied-pool.js'
import type { Origin } from './origin.js'
import type { DeniedRow } from './report.js'

/** The clients that a limiter has denied. */
export class DeniedClients {
  readonly #pool: DeniedPool
  readonly #clients: Map<string, DeniedClient>
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
    origin: Origin,
    readLabel?: () => string | undefined,
  ): void {
    countDenial(this.#clientOf(nowMs, limitName, identity), nowMs, origin, readLabel)
  }

  /** How many clients there are. */
  get size(): number {
    return this.#clients.size
  }

  /** Returns the clients that were denied most, at most `most`, the first one most. */
  top(nowMs: number, most: number): readonly DeniedRow[] {
    this.#forget(nowMs)
    if (most === 0) return []
    return largest(this.#clients, most, ({ denied }) => denied).map((client) => rowOf(client, nowMs))
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

  #clientOf(nowMs: number, limitName: string, identity: string): DeniedClient {
    const key = clientKey(limitName, identity)
    const known = this.#clients.get(key)
    if (known !== undefined && nowMs - known.lastMs < FORGOTTEN_MS) return known
    const client = newClient(nowMs, limitName, identity)
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
