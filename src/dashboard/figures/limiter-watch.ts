import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { shownIdentity } from '../../keys/value-identity.js'
import { chargedParts, type Decision, receiptOf } from '../../limiter/decision.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { AnyLimiter } from '../../limiter/limiter.js'
import { isOfClient } from '../../limiter/near-limit.js'
import type { UnitsWatch } from '../../limiter/receipt.js'
import type { SettingsChange } from '../../limiter/settings-document.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { StoreMessage } from '../../pipe/store-channel.js'
import { limitPath } from '../../settings/parts.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import type { LimitInForce } from '../../tuning/demand-in-force.js'
import { once } from '../../util/memo.js'
import { askedOf, changeUnits, watchUnits } from './asked.js'
import { CandidateDemands } from './candidate-demands.js'
import { DemandBudget } from './demands.js'
import { Denials } from './denials.js'
import { clientKey, DeniedClients } from './denied-clients.js'
import { DeniedPool, FORGOTTEN_MS } from './denied-pool.js'
import { readLabel } from './label.js'
import { Latency } from './latency.js'
import { type LimitDemands, LimitTable } from './limit-figures.js'
import { NearClients } from './near-clients.js'
import { originOf } from './origin.js'
import { type EndedOutage, OutageWatch } from './outage.js'
import { type DeniedRow, type LimiterReport, MAX_NEAR, type NearClient, type StoreReport } from './report.js'
import { Run } from './run.js'
import { CHART_SLOTS, Traffic } from './traffic.js'

/** Returns the identity in keys of a listed one, if names stay in this process and are not hashed. */
export type FindWrittenOut = (listed: string) => string | undefined

/** A limiter, and the name that the page shows. */
export interface Watched {
  readonly name: string
  readonly limiter: AnyLimiter
  readonly inspection: Inspection
  /** Returns how to find identities in keys. Absent if nothing is known of clients. */
  writtenOut?(): FindWrittenOut
}

/** What the limiters of a dashboard share. */
export interface SharedByWatches {
  readonly pool: DeniedPool
  readonly budget: DemandBudget
  /** Returns what the application calls the client of a subject. */
  readonly label?: ((subject: never) => unknown) | undefined
}

/** Begins to count what limiters decide, in memory that they share. */
export function watchAll(
  limiters: readonly Watched[],
  label?: SharedByWatches['label'],
  now: () => number = Date.now,
): readonly LimiterWatch[] {
  const shared = { pool: new DeniedPool(), budget: new DemandBudget(), label }
  return limiters.map((watched) => new LimiterWatch(watched, now, shared))
}

/** The most denied clients in a report. */
const MAX_REPORTED = 1000

/** Counts what a limiter decides in this process. Its memory is bounded. */
export class LimiterWatch implements Watched {
  readonly name: string
  readonly limiter: AnyLimiter
  readonly inspection: Inspection
  readonly isOverloadGuard: boolean
  readonly #sinceMs: number
  readonly #traffic: Traffic
  readonly #limits: LimitTable
  readonly #candidate: CandidateDemands
  readonly #near = new NearClients()
  readonly #denials = new Denials()
  readonly #blocked = new Run()
  readonly #denied: DeniedClients
  readonly #label: SharedByWatches['label']
  readonly #latency = new Latency()
  readonly #outage = new OutageWatch()
  #isProbing = false
  readonly #now: () => number

  constructor(
    { name, limiter, inspection }: Watched,
    now: () => number = Date.now,
    { pool, budget, label }: SharedByWatches = { pool: new DeniedPool(), budget: new DemandBudget() },
  ) {
    this.name = name
    this.limiter = limiter
    this.inspection = inspection
    this.isOverloadGuard = limiter.describe().overload !== undefined
    this.#now = now
    this.#sinceMs = now()
    this.#traffic = new Traffic(CHART_SLOTS, this.#sinceMs)
    this.#limits = new LimitTable(inspection, budget)
    this.#candidate = new CandidateDemands(budget, now)
    this.#denied = new DeniedClients(pool)
    this.#label = label
    limiter.events.on('decision', this.#count)
    limiter.events.on('candidate', this.#countCandidate)
    limiter.events.on('storeState', this.#setState)
    if (inspection.instance !== undefined) subscribe('headgate:store', this.#measure)
  }

  /** Returns what the limiter did so far, with at most `most` of its denied clients, and `near` of those near a limit. */
  report(most = MAX_REPORTED, near = MAX_NEAR): LimiterReport {
    const nowMs = this.#now()
    const candidate = this.limiter.candidateReport()
    const candidateClients = this.inspection.candidateClients()
    const run = this.#denials.run(nowMs)
    const blocked = this.#blocked.figures(nowMs)
    return {
      name: this.name,
      mode: this.limiter.mode,
      sinceMs: this.#sinceMs,
      traffic: this.#traffic.report(nowMs),
      limits: this.#limits.rows(nowMs),
      near: this.near(near),
      ...(run && { run }),
      ...(blocked && { blocked }),
      denials: this.#denials.figures(nowMs),
      denied: this.denied(most),
      store: this.#storeReport(nowMs),
      ...(candidate && { candidate }),
      ...(candidateClients && { candidateClients }),
    }
  }

  /** How many denied clients are kept. */
  get deniedCount(): number {
    return this.#denied.size
  }

  /** Whether requests were blocked while the denied clients that are kept may have been. */
  get isBlocking(): boolean {
    const blocked = this.#blocked.figures(this.#now())
    return blocked !== undefined && this.#now() - blocked.lastMs < FORGOTTEN_MS
  }

  /** Returns the clients that were denied most. */
  denied(most: number): readonly DeniedRow[] {
    return this.#denied.top(this.#now(), most)
  }

  /** Returns the clients that are nearest to a limit. */
  near(most: number): readonly NearClient[] {
    return this.#near.nearest(this.#now(), most)
  }

  /** Returns what the application calls its denied clients, by `clientKey`. */
  labels(): ReadonlyMap<string, string> {
    return this.#label === undefined ? new Map() : this.#denied.labels()
  }

  /** Takes what clients have asked for since the last call, of the limits in force and of the candidate. */
  takeDemands(): readonly LimitDemands[] {
    const nowMs = this.#now()
    return [...this.#limits.takeDemands(nowMs), ...this.#candidate.take(nowMs)]
  }

  /** Returns the limits that apply to clients without an override. */
  limitsInForce(): readonly LimitInForce[] {
    return Array.from(this.inspection.limits.values(), ({ name, policy: { limit, spec } }) => {
      return { name, limit, policy: spec }
    })
  }

  /** Takes the history of the settings, the newest change first: it tells since when each limit is in force. */
  useChanges(changes: readonly SettingsChange[]): void {
    const start = limitPath('')
    const sinceMs = changes.toReversed().flatMap(({ atMs, parts = [] }) => {
      const paths = parts.map(({ path }) => path).filter((path) => path.startsWith(start))
      return paths.map((path) => [path.slice(start.length), atMs] as const)
    })
    this.#limits.setSince(new Map(sinceMs))
    const isOfCandidate = ({ parts = [] }: SettingsChange) => parts.some(({ path }) => path === 'candidate')
    this.#candidate.setSince(changes.find(isOfCandidate)?.atMs)
  }

  /** The state of the circuit breakers. */
  get storeState(): BreakerState {
    return this.#outage.state
  }

  /** The last outage of its store that ended. */
  get endedOutage(): EndedOutage | undefined {
    return this.#outage.ended
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

  /** Stops counting. What is counted stays. */
  stop(): void {
    this.limiter.events.off('decision', this.#count)
    this.limiter.events.off('candidate', this.#countCandidate)
    this.limiter.events.off('storeState', this.#setState)
    unsubscribe('headgate:store', this.#measure)
  }

  readonly #count = (decision: Decision, subject: unknown): void => {
    const nowMs = this.#now()
    const { allowed, parts, source } = decision
    const isLocal = source === 'local'
    this.#traffic.count(nowMs, allowed, 0)
    this.#outage.count(nowMs, source)
    const receipt = receiptOf(decision)
    if (allowed && receipt !== undefined && !isLocal) watchUnits(receipt, this.#changeUnits)
    for (const [i, part] of parts.entries()) {
      const { identity = '', policy } = receipt?.parts[i] ?? {}
      const figures = this.#limits.of(part, policy, isLocal, nowMs)
      figures?.traffic.count(nowMs, part.allowed, 1 - part.remaining / part.limit)
      // What another limit denied has not been asked of this one, unless this one denies it also.
      if (part.cost > 0 && (allowed || !part.allowed))
        figures?.demands?.count(
          receipt?.result?.atMs ?? nowMs,
          identity,
          askedOf(part, source, receipt?.result?.parts[i]),
        )
      if (allowed && isOfClient(decision)) this.#near.note(nowMs, part, isLocal, () => identity)
    }
    if (source === 'blocked') this.#blocked.count(nowMs)
    else if (!allowed) this.#countDenial(nowMs, decision, subject)
  }

  readonly #changeUnits: UnitsWatch = ({ name, policy, identity }, change) => {
    const demands = this.#limits.demandsOf(name, policy)
    if (demands !== undefined) changeUnits(demands, identity, change, this.#now())
  }

  readonly #countCandidate = (candidate: Decision): void => this.#candidate.count(candidate, this.#now())

  #countDenial(nowMs: number, decision: Decision, subject: unknown): void {
    const origin = originOf(subject, this.inspection)
    const charged = chargedParts(decision)
    const label = this.#label && (() => readLabel(this.#label, subject))
    const clients: string[] = []
    for (const [i, part] of decision.parts.entries()) {
      if (part.allowed) continue
      const identity = charged?.[i]?.identity ?? ''
      clients.push(clientKey(part.name, identity))
      this.#denied.count(nowMs, part.name, identity, origin, label)
    }
    this.#denials.count(nowMs, clients, origin)
  }

  /** It hashes all clients that are listed, at most once: an operator may act on a thousand of them. */
  writtenOut(): FindWrittenOut {
    const byListed = once(() => {
      const sources = [
        this.#near.identities(),
        this.#denied.identities(),
        this.inspection.candidateIdentities(),
      ]
      const identities = sources.flatMap((source) => [...source])
      return new Map(identities.map((identity) => [shownIdentity(identity), identity]))
    })
    return (listed) => {
      const identity = byListed().get(listed)
      return identity === listed ? undefined : identity
    }
  }

  readonly #setState = (state: BreakerState, _cause: unknown, server?: string): void => {
    this.#outage.setState(this.#now(), state, server)
  }

  readonly #measure = (message: unknown): void => {
    const event = message as StoreMessage
    if ((event.type !== 'call' && event.type !== 'late') || event.instance !== this.inspection.instance)
      return
    if (event.type === 'late') this.#outage.countLate(this.#now(), event.durationMs)
    else this.#latency.measure(this.#now(), event.durationMs, event.error !== undefined)
  }

  #storeReport(nowMs: number): StoreReport {
    const { store } = this.inspection
    const outage = this.#outage.report(nowMs)
    return {
      name: store.name,
      state: this.#outage.state,
      ...this.#latency.report(nowMs),
      ...(isMemoryStore(store) && { keys: store.size }),
      ...(outage && { outage }),
    }
  }
}
