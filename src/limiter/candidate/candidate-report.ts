import { shownIdentity } from '../../keys/value-identity.js'
import { DistinctNames } from '../../util/distinct-names.js'
import { FrequentNames } from '../../util/frequent.js'
import { chargedParts, type Decision, type PartDecision } from '../decision.js'

/** A client that a candidate would have denied. */
export interface DeniedClient {
  /**
   * The identity as stores keep it. IP addresses are in clear, unless there is a `secret`. All others are
   * hashed.
   */
  readonly identity: string
  /**
   * How many requests of this client would have been denied. A lower bound if there are more than 1,000
   * denied clients.
   */
  readonly denied: number
}

/** What one limit of a candidate would have denied. */
export interface CandidateLimitReport {
  /** The limit's name, or `_other` for limits beyond the first 64 names. */
  readonly name: string
  /** How many requests it would have denied. */
  readonly denied: number
  /** By how many units those requests exceeded what was left of the limit. */
  readonly excessUnits: number
  /** How many clients it would have denied at least once. An estimate from 1,000 on (standard error 3%). */
  readonly deniedClients: number
  /** The ten clients that it would have denied most often. */
  readonly mostDenied: readonly DeniedClient[]
}

/** What a candidate would have done in this process so far, compared with the limits in force. */
export interface CandidateReport {
  /** When counting began, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** How many requests the candidate decided. */
  readonly requests: number
  /** How many clients sent them. An estimate from 1,000 on (standard error 3%). */
  readonly clients: number
  /** How many of the requests the candidate would have denied. */
  readonly denied: number
  /** How many clients it would have denied at least once. An estimate from 1,000 on, as for `clients`. */
  readonly deniedClients: number
  /** How many requests the candidate would have denied, and the limits in force allowed. */
  readonly newlyDenied: number
  /** How many requests the candidate would have allowed, and the limits in force denied. */
  readonly newlyAllowed: number
  /** How many requests the candidate could not decide, because the store or one of its functions failed. */
  readonly failed: number
  /** The limits that would have denied. */
  readonly limits: readonly CandidateLimitReport[]
}

/** The most clients of a limit that are counted one by one. */
const MAX_COUNTED = 1000
/** The most limits that have their own figures, since a policy function may return new names forever. */
const MAX_LIMITS = 64
const OTHER = '_other'
const MOST_SHOWN = 10

interface LimitFigures {
  denied: number
  excessUnits: number
  readonly clients: DistinctNames
  readonly counts: FrequentNames
}

/** Hashes of the clients that a report counts: processes merge them, so that each client counts once. */
export interface CandidateClients {
  readonly clients: readonly number[]
  readonly deniedClients: readonly number[]
  /** The clients that each limit would have denied, in the order of the report. */
  readonly limits: readonly (readonly number[])[]
}

/** Counts what a candidate would have done, in bounded memory. */
export class CandidateFigures {
  readonly #counts = {
    sinceMs: Date.now(), // 0 if a Worker is still loading its modules
    requests: 0,
    denied: 0,
    newlyDenied: 0,
    newlyAllowed: 0,
    failed: 0,
  }
  readonly #clients = new DistinctNames()
  readonly #deniedClients = new DistinctNames()
  readonly #limits = new Map<string, LimitFigures>()

  countFailure(): void {
    this.#counts.sinceMs ||= Date.now()
    this.#counts.failed++
  }

  count(decision: Decision, candidate: Decision): void {
    this.#counts.sinceMs ||= Date.now()
    this.#counts.requests++
    const charge = chargedParts(candidate) ?? []
    const client = charge.map(({ identity }) => identity).join(' ')
    if (charge.length > 0) this.#clients.add(client)
    // What a failed store let through, or denied, says nothing about the limits in force.
    const isComparable = decision.source !== 'fail-open' && decision.source !== 'fail-closed'
    if (candidate.allowed) {
      if (!decision.allowed && isComparable) this.#counts.newlyAllowed++
      return
    }
    this.#counts.denied++
    this.#deniedClients.add(client)
    if (decision.allowed && isComparable) this.#counts.newlyDenied++
    for (const [i, part] of candidate.parts.entries())
      if (!part.allowed) this.#countDenial(part, charge[i]?.identity ?? '')
  }

  #countDenial({ name, cost, remaining }: PartDecision, identity: string): void {
    const limit = this.#figuresOf(name)
    limit.denied++
    limit.excessUnits += cost - remaining
    limit.clients.add(identity)
    limit.counts.count(identity)
  }

  #figuresOf(name: string): LimitFigures {
    const existing = this.#limits.get(name)
    if (existing !== undefined) return existing
    if (this.#limits.size >= MAX_LIMITS && name !== OTHER) return this.#figuresOf(OTHER)
    const figures = {
      denied: 0,
      excessUnits: 0,
      clients: new DistinctNames(),
      counts: new FrequentNames(MAX_COUNTED),
    }
    this.#limits.set(name, figures)
    return figures
  }

  report(): CandidateReport {
    return {
      ...this.#counts,
      clients: this.#clients.count,
      deniedClients: this.#deniedClients.count,
      limits: Array.from(this.#limits, ([name, { denied, excessUnits, clients, counts }]) => ({
        name,
        denied,
        excessUnits,
        deniedClients: clients.count,
        mostDenied: counts
          .top(MOST_SHOWN)
          .map(([identity, denied]) => ({ identity: shownIdentity(identity), denied })),
      })),
    }
  }

  /** Returns the identities in keys of the clients that the report lists. */
  identities(): readonly string[] {
    const listed = Array.from(this.#limits.values(), ({ counts }) => counts.top(MOST_SHOWN))
    return listed.flat().map(([identity]) => identity)
  }

  /** Returns hashes of the clients that the report counts. */
  clients(): CandidateClients {
    return {
      clients: this.#clients.hashes(),
      deniedClients: this.#deniedClients.hashes(),
      limits: Array.from(this.#limits.values(), ({ clients }) => clients.hashes()),
    }
  }
}
