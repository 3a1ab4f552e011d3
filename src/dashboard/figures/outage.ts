import type { DecisionSource } from '../../limiter/decision.js'
import { type BreakerState, ServerStates } from '../../pipe/breaker-state.js'

/** What decides a request while the store is unavailable, by the source of the decision. */
const DECIDED_BY: { readonly [Source in DecisionSource]?: 'allowed' | 'denied' | 'local' | 'byStore' } = {
  'fail-open': 'allowed',
  'fail-closed': 'denied',
  local: 'local',
  store: 'byStore',
}

/** A reply that came late says for this long that the store works, but too slowly: it is probed more often than that. */
const LATE_MS = 5000

/** The most servers that are named. */
const MAX_SERVERS = 20

/** What decided requests while the store was unavailable. */
export interface OutageReport {
  /** When that began, in ms since the Unix epoch. */
  readonly sinceMs: number
  /** Allowed and denied without the store. */
  readonly allowed: number
  readonly denied: number
  /** Decided by the fallback store of the process. */
  readonly local: number
  /**
   * Decided by the store nevertheless: only some of its servers are unavailable, or it fails now and then.
   */
  readonly byStore: number
  /** How many processes say so. */
  readonly processes: number
  /** The servers that are unavailable, if the store has several. */
  readonly servers: readonly string[]
  /** How long the last reply took, in ms, if one came too late within the last seconds. Absent if there was none. */
  readonly lateMs?: number
}

/** An outage that is over: when it began, and how many decisions this process made without the store. */
export interface EndedOutage {
  readonly sinceMs: number
  readonly decisions: number
}

/**
 * Follows the outages of a limiter's store. One begins with the first decision that the store did not make,
 * if a circuit breaker then opens before the store decides again. It ends when those of all its servers are
 * closed.
 */
export class OutageWatch {
  readonly #states = new ServerStates()
  #outage: ReturnType<typeof begunAt> | undefined
  #ended: EndedOutage | undefined
  #late = { atMs: Number.NEGATIVE_INFINITY, durationMs: 0 }

  get state(): BreakerState {
    return this.#states.worst
  }

  /** The last outage that ended with a circuit breaker that closed. */
  get ended(): EndedOutage | undefined {
    return this.#ended
  }

  setState(nowMs: number, state: BreakerState, server: string | undefined): void {
    this.#states.set(server, state)
    if (this.state !== 'closed') {
      this.#outage ??= begunAt(nowMs)
      return
    }
    if (this.#outage !== undefined) {
      const { sinceMs, allowed, denied, local } = this.#outage
      this.#ended = { sinceMs, decisions: allowed + denied + local }
    }
    this.#outage = undefined
  }

  count(nowMs: number, source: DecisionSource): void {
    const decidedBy = DECIDED_BY[source]
    if (source === 'store' && this.state === 'closed') this.#outage = undefined
    else if (decidedBy !== undefined) {
      this.#outage ??= begunAt(nowMs)
      this.#outage[decidedBy]++
    }
  }

  /** Takes a reply that came after its deadline. */
  countLate(atMs: number, durationMs: number): void {
    this.#late = { atMs, durationMs }
  }

  /** Returns the outage that lasts; `undefined` while all breakers are closed. */
  report(nowMs: number): OutageReport | undefined {
    if (this.state === 'closed' || this.#outage === undefined) return undefined
    const { atMs, durationMs } = this.#late
    return {
      ...this.#outage,
      processes: 1,
      servers: this.#states.failing.slice(0, MAX_SERVERS),
      ...(Math.abs(nowMs - atMs) < LATE_MS && { lateMs: Math.round(durationMs) }),
    }
  }
}

/** Adds up an outage that several processes report. */
export function mergeOutages(a: OutageReport, b: OutageReport): OutageReport {
  const late = [a, b].flatMap(({ lateMs }) => lateMs ?? [])
  return {
    sinceMs: Math.min(a.sinceMs, b.sinceMs),
    allowed: a.allowed + b.allowed,
    denied: a.denied + b.denied,
    local: a.local + b.local,
    byStore: a.byStore + b.byStore,
    processes: a.processes + b.processes,
    servers: [...new Set([...a.servers, ...b.servers])].slice(0, MAX_SERVERS),
    ...(late.length > 0 && { lateMs: Math.max(...late) }),
  }
}

function begunAt(sinceMs: number) {
  return { sinceMs, allowed: 0, denied: 0, local: 0, byStore: 0 }
}
