import { chargeOf, type Decision } from './decision.js'

/** A client that a candidate would have denied. */
export interface DeniedClient {
  /** The identity as stores keep it: an address or a route in clear, unless there is a `secret`; others hashed. */
  readonly identity: string
  /** How many requests of this client the candidate would have denied. */
  readonly denied: number
}

/** What one limit of a candidate would have denied. */
export interface CandidateLimitReport {
  /** The limit's name. */
  readonly name: string
  /** How many requests it would have denied. */
  readonly denied: number
  /** How many units these asked for: by so much the limit was exceeded. */
  readonly deniedUnits: number
  /** How many clients it would have denied at least once. Above 10,000, a lower bound. */
  readonly deniedClients: number
  /** The ten clients that it would have denied most often. */
  readonly mostDenied: readonly DeniedClient[]
}

/** What a candidate would have done in this process so far, beside what the limits in force did. */
export interface CandidateReport {
  /** When counting began, in ms since the Unix epoch. */
  readonly sinceMs: number
  /** How many requests were decided by both. */
  readonly requests: number
  /** How many of them the candidate would have denied. */
  readonly denied: number
  /** Denied by the candidate, and allowed by the limits in force. */
  readonly newlyDenied: number
  /** Allowed by the candidate, and denied by the limits in force. */
  readonly newlyAllowed: number
  /** How many requests the candidate could not decide: the store failed, or no limit of it applied. */
  readonly undecided: number
  readonly limits: readonly CandidateLimitReport[]
}

/** So many clients are counted one by one, for each limit. */
const MAX_CLIENTS = 10_000
const MOST_SHOWN = 10

interface LimitFigures {
  denied: number
  deniedUnits: number
  readonly clients: Map<string, number>
}

/** Counts what a candidate would have done. Its memory is bounded by the number of limits. */
export class CandidateFigures {
  readonly #sinceMs = Date.now()
  #requests = 0
  #denied = 0
  #newlyDenied = 0
  #newlyAllowed = 0
  #undecided = 0
  readonly #limits = new Map<string, LimitFigures>()

  count(enforced: Decision, tried: Decision | undefined): void {
    if (tried === undefined) {
      this.#undecided++
      return
    }
    this.#requests++
    if (tried.allowed) {
      if (!enforced.allowed) this.#newlyAllowed++
      return
    }
    this.#denied++
    if (enforced.allowed) this.#newlyDenied++
    for (const [i, { name, allowed, cost }] of tried.parts.entries()) {
      if (!allowed) this.#countDenial(name, cost, chargeOf(tried)?.[i]?.identity)
    }
  }

  #countDenial(name: string, cost: number, identity = ''): void {
    let limit = this.#limits.get(name)
    if (limit === undefined) {
      limit = { denied: 0, deniedUnits: 0, clients: new Map() }
      this.#limits.set(name, limit)
    }
    limit.denied++
    limit.deniedUnits += cost
    const times = limit.clients.get(identity)
    if (times !== undefined || limit.clients.size < MAX_CLIENTS) limit.clients.set(identity, (times ?? 0) + 1)
  }

  report(): CandidateReport {
    return {
      sinceMs: this.#sinceMs,
      requests: this.#requests,
      denied: this.#denied,
      newlyDenied: this.#newlyDenied,
      newlyAllowed: this.#newlyAllowed,
      undecided: this.#undecided,
      limits: Array.from(this.#limits, ([name, { denied, deniedUnits, clients }]) => {
        const mostDenied = Array.from(clients, ([identity, times]) => ({ identity, denied: times }))
          .sort((a, b) => b.denied - a.denied)
          .slice(0, MOST_SHOWN)
        return { name, denied, deniedUnits, deniedClients: clients.size, mostDenied }
      }),
    }
  }
}
