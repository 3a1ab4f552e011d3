import { shownIdentity } from '../../keys/value-identity.js'
import type { PartDecision } from '../../limiter/decision.js'
import { isNearLimit } from '../../limiter/near-limit.js'
import { largest } from '../../util/largest.js'
import type { NearClient } from './report.js'

/** The most clients that are remembered: those that came near a limit most recently. */
const MAX_CLIENTS = 100
/** How long a client that does not come back is remembered, unless the limit says less. */
const LONGEST_MS = 900_000

interface Remembered extends NearClient {
  readonly untilMs: number
}

/** Remembers the clients that have used 80% of a limit. */
export class NearClients {
  readonly #clients = new Map<string, Remembered>()

  /**
   * Takes a limit's part in an allowed decision, which the fallback store made if `isLocal`. `identityOf` is
   * called where the client is remembered.
   */
  note(nowMs: number, part: PartDecision, isLocal: boolean, identityOf: () => string): void {
    const isNear = isNearLimit(part)
    if (!isNear && this.#clients.size === 0) return
    const identity = identityOf()
    const key = `${part.name} ${identity}`
    this.#clients.delete(key)
    if (!isNear) return
    const { name: limitName, limit, remaining, resetAfterMs } = part
    const untilMs = nowMs + Math.min(resetAfterMs, LONGEST_MS)
    this.#clients.set(key, { limitName, identity, limit, remaining, isLocal, untilMs })
    if (this.#clients.size <= MAX_CLIENTS) return
    const [oldest] = this.#clients.keys()
    if (oldest !== undefined) this.#clients.delete(oldest)
  }

  /** Returns those nearest to a limit, at most `most`. */
  nearest(nowMs: number, most: number): readonly NearClient[] {
    if (most === 0) return []
    this.#clients.forEach(({ untilMs }, key) => {
      if (untilMs <= nowMs) this.#clients.delete(key)
    })
    const nearest = nearestFirst(this.#clients, most)
    return nearest.map(({ untilMs, ...client }) => ({ ...client, identity: shownIdentity(client.identity) }))
  }

  /** Returns the identities in keys of all that are remembered. */
  identities(): readonly string[] {
    return Array.from(this.#clients.values(), ({ identity }) => identity)
  }
}

/** Returns the clients that have the smallest share of a limit left, at most `most`, the nearest first. */
export function nearestFirst<Client extends NearClient>(
  clients: Parameters<typeof largest<Client>>[0],
  most: number,
): Client[] {
  return largest(clients, most, ({ remaining, limit }) => -remaining / limit)
}
