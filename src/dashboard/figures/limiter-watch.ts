import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { shownIdentity } from '../../keys/value-identity.js'
import { chargedParts, type Decision, type PartDecision } from '../../limiter/decision.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { AnyLimiter } from '../../limiter/limiter.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { StoreMessage } from '../../pipe/store-channel.js'
import { kindOf } from '../../policies/spec.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import { RecentlyFrequentNames } from './frequent.js'
import { Latency } from './latency.js'
import { NearClients } from './near-clients.js'
import { OutageWatch } from './outage.js'
import { type DeniedRow, type LimiterReport, type LimitRow, MAX_LISTED, type StoreReport } from './report.js'
import { CHART_SLOTS, MINUTE_SLOTS, Traffic } from './traffic.js'

/** The most limits that have figures, since a policy function may return new limits forever. */
const MAX_LIMITS = 64

type LimitNumbers = Pick<PartDecision, 'name' | 'limit' | 'windowMs'> & { readonly isLocal: boolean }

interface WatchedLimit extends LimitNumbers {
  readonly traffic: Traffic
}

/** A limiter, and the name that the page shows. */
export interface Watched {
  readonly name: string
  readonly limiter: AnyLimiter
  readonly inspection: Inspection
  /** Returns the identity in keys of a listed one, if names stay in this process and are not hashed. */
  writtenOutOf?(identity: string): string | undefined
}

/** Counts what a limiter decides in this process. Its memory is bounded. */
export class LimiterWatch implements Watched {
  readonly name: string
  readonly limiter: AnyLimiter
  readonly inspection: Inspection
  readonly #traffic: Traffic
  readonly #limits = new Map<string, WatchedLimit>()
  readonly #near = new NearClients()
  readonly #denied = new RecentlyFrequentNames()
  readonly #latency = new Latency()
  readonly #outage = new OutageWatch()
  #isProbing = false
  readonly #now: () => number

  constructor({ name, limiter, inspection }: Watched, now: () => number = Date.now) {
    this.name = name
    this.limiter = limiter
    this.inspection = inspection
    this.#now = now
    this.#traffic = new Traffic(CHART_SLOTS, now())
    limiter.events.on('decision', this.#count)
    limiter.events.on('storeState', this.#setState)
    if (!isMemoryStore(inspection.store)) subscribe('headgate:store', this.#measure)
  }

  /** Returns what the limiter did so far. */
  report(): LimiterReport {
    const nowMs = this.#now()
    const candidate = this.limiter.candidateReport()
    const candidateClients = this.inspection.candidateClients()
    return {
      name: this.name,
      mode: this.limiter.mode,
      traffic: this.#traffic.report(nowMs),
      limits: this.#limitReports(nowMs),
      near: this.#near.nearest(nowMs, MAX_LISTED),
      denied: this.#denied.top(nowMs, MAX_LISTED).map(([name, denied]) => ({ ...clientOf(name), denied })),
      store: this.#storeReport(nowMs),
      ...(candidate && { candidate }),
      ...(candidateClients && { candidateClients }),
    }
  }

  /**
   * Calls the store while its circuit breaker is not closed, so that the end of an outage is seen without a
   * request. The breaker still decides when a call reaches the store.
   */
  probe(): void {
    if (this.#outage.state === 'closed' || this.#isProbing) return
    this.#isProbing = true
    void this.limiter.health().then(() => {
      this.#isProbing = false
    })
  }

  /** Stops counting. */
  stop(): void {
    this.limiter.events.off('decision', this.#count)
    this.limiter.events.off('storeState', this.#setState)
    unsubscribe('headgate:store', this.#measure)
  }

  readonly #count = (decision: Decision): void => {
    const nowMs = this.#now()
    const { allowed, parts, source } = decision
    const isLocal = source === 'local'
    this.#traffic.count(nowMs, allowed, 0)
    this.#outage.count(nowMs, source)
    for (const [i, part] of parts.entries()) {
      const identityOf = () => chargedParts(decision)?.[i]?.identity ?? ''
      const figures = this.#figuresOf({ ...numbersOf(part), isLocal }, nowMs)
      figures?.traffic.count(nowMs, part.allowed, 1 - part.remaining / part.limit)
      if (allowed) this.#near.note(nowMs, part, isLocal, identityOf)
      else if (!part.allowed) this.#denied.count(nowMs, nameOf(part.name, identityOf()))
    }
  }

  writtenOutOf(shown: string): string | undefined {
    const denied = this.#denied.top(this.#now(), Number.POSITIVE_INFINITY)
    const listed = [
      ...this.#near.identities(),
      ...denied.map(([name]) => identityIn(name)),
      ...this.inspection.candidateIdentities(),
    ]
    return listed.find((identity) => identity !== shown && shownIdentity(identity) === shown)
  }

  readonly #setState = (state: BreakerState, _cause: unknown, server?: string): void => {
    this.#outage.setState(this.#now(), state, server)
  }

  readonly #measure = (message: unknown): void => {
    const event = message as StoreMessage
    if (event.type !== 'call' || event.limiter !== this.limiter.name) return
    if (event.store === this.inspection.store.name)
      this.#latency.measure(this.#now(), event.durationMs, event.error !== undefined)
  }

  #figuresOf(limit: LimitNumbers, nowMs: number): WatchedLimit | undefined {
    const key = keyOf(limit)
    const existing = this.#limits.get(key)
    if (existing !== undefined) return existing
    const windowMs = this.#windowOf(limit)
    if (windowMs !== limit.windowMs) return this.#figuresOf({ ...limit, windowMs }, nowMs)
    if (this.#limits.size >= MAX_LIMITS) return undefined
    const figures = { ...limit, traffic: new Traffic(MINUTE_SLOTS, nowMs) }
    this.#limits.set(key, figures)
    return figures
  }

  /** Returns the window of a limit, the same for all periods of a quota. */
  #windowOf({ name, windowMs }: LimitNumbers): number {
    const limits = [...this.inspection.limits.values()]
    const quota = limits.find((limit) => limit.name === name && limit.policy.periodAt !== undefined)
    return quota?.policy.windowMs ?? windowMs
  }

  /** Returns the limits that have decided, and those that are known, but have not yet. */
  #limitReports(nowMs: number): LimitRow[] {
    const kinds = new Map<string, string>()
    for (const { name, policy } of this.inspection.limits.values()) {
      const kind = kindOf(policy.spec)
      const limit = { name, limit: policy.limit, windowMs: policy.windowMs, isLocal: false }
      kinds.set(keyOf(limit), kind)
      kinds.set(name, kind) // a share of it, by which the fallback store decides
      this.#figuresOf(limit, nowMs)
    }
    const reports = Array.from(this.#limits, ([key, { traffic, ...limit }]) => ({
      ...limit,
      kind: kinds.get(limit.isLocal ? limit.name : key) ?? '',
      windowMs: Number.isFinite(limit.windowMs) ? limit.windowMs : null,
      ...traffic.sum(nowMs),
    }))
    return reports.filter(({ isLocal, allowed, denied }) => !isLocal || allowed + denied > 0)
  }

  #storeReport(nowMs: number): StoreReport {
    const { store } = this.inspection
    const outage = this.#outage.report()
    return {
      name: store.name,
      state: this.#outage.state,
      ...this.#latency.report(nowMs),
      ...(isMemoryStore(store) && { keys: store.size }),
      ...(outage && { outage }),
    }
  }
}

/** Returns what tells a limit from others: a policy function may return several of one name. */
function keyOf({ name, limit, windowMs, isLocal }: LimitNumbers): string {
  return `${name} ${limit} ${windowMs} ${isLocal}`
}

function numbersOf({ name, limit, windowMs }: PartDecision): Omit<LimitNumbers, 'isLocal'> {
  return { name, limit, windowMs }
}

/** Joins a limit, whose name has no blank, and an identity in keys. */
function nameOf(limitName: string, identity: string): string {
  return `${limitName} ${identity}`
}

function identityIn(name: string): string {
  return name.slice(name.indexOf(' ') + 1)
}

function clientOf(name: string): Omit<DeniedRow, 'denied'> {
  return { limitName: name.slice(0, name.indexOf(' ')), identity: shownIdentity(identityIn(name)) }
}
