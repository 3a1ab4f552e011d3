import type { Mode } from '../../limiter/access-rules.js'
import type { CandidateClients, CandidateReport } from '../../limiter/candidate/candidate-report.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { DistinctSample } from '../../util/distinct-sample.js'
import type { Counts } from './counts.js'
import type { OutageReport } from './outage.js'

/** The most clients near a limit in a report. */
export const MAX_NEAR = 20

/** The most clients that the page lets an operator block at a time. */
export const MAX_BLOCKED = 200

/** Decisions over time, in slots of equal length. */
export interface TrafficReport {
  /** The number of the last slot: its start since the Unix epoch, divided by the length of a slot. */
  readonly lastSlot: number
  /** What the last slot has so far. */
  readonly allowed: number
  readonly denied: number
  readonly past: PastSlots
  /** Decisions a second over the last minute, up to the moment of the report. */
  readonly perSecond: { readonly allowed: number; readonly denied: number }
}

/** The slots that are over, the oldest first. The same object until another slot is over. */
export interface PastSlots {
  readonly allowed: readonly number[]
  readonly denied: readonly number[]
}

/** A limit, with what it decided in the last minute. */
export interface LimitRow {
  readonly name: string
  /** The kind of its policy, such as `'token-bucket'`; `''` if it is not known. */
  readonly kind: string
  readonly limit: number
  /** `null` = it never resets by itself. */
  readonly windowMs: number | null
  /**
   * Whether it is one of the fallback store, which decides in its own process while the store is
   * unavailable.
   */
  readonly isLocal: boolean
  readonly allowed: number
  readonly denied: number
  /** The largest share of the limit that a client had used: from 0 to 1. */
  readonly peak: number
}

/** A client that has used 80% of a limit. */
export interface NearClient {
  readonly limitName: string
  /** The identity as stores keep it. */
  readonly identity: string
  readonly limit: number
  readonly remaining: number
  /** Whether the limit is one of the fallback store. */
  readonly isLocal: boolean
}

/** A client that was denied in the last 15 minutes. */
export interface DeniedRow {
  readonly limitName: string
  /** The identity as logs show it. */
  readonly identity: string
  /** How often, since `firstMs`. */
  readonly denied: number
  /** Denials a second in the last 30 to 60 seconds. */
  readonly perSecond: number
  readonly firstMs: number
  readonly lastMs: number
  /** The routes and the networks of most of its denials. */
  readonly routes: Counts
  readonly networks: Counts
  /** The addresses that stand behind it. */
  readonly addresses: DistinctSample
}

/** Denials without a pause of a minute. */
export interface DenialRun {
  readonly sinceMs: number
  readonly lastMs: number
  /** Since when they are about as frequent as at the last one. */
  readonly risenMs: number
  /** How many there were in the last minute. */
  readonly perMinute: number
}

/** A network that was denied: /24 of IPv4, /48 of IPv6. */
export interface NetworkFigures {
  readonly network: string
  readonly denied: number
  readonly addresses: DistinctSample
}

/** What the denials of the last run have in common, over at most 15 minutes. */
export interface DenialFigures {
  readonly denied: number
  readonly clients: DistinctSample
  readonly addresses: DistinctSample
  /** All networks, listed or not. */
  readonly networkNames: DistinctSample
  readonly routes: Counts
  /** The networks that were denied most. */
  readonly networks: readonly NetworkFigures[]
}

/** A store, as one limiter sees it. */
export interface StoreReport {
  readonly name: string
  readonly state: BreakerState
  /** Calls in the last minute, those that failed, and how long they took by bucket of `latency.ts`. */
  readonly calls: number
  readonly failures: number
  readonly latency: readonly number[]
  /** The keys of a memory store. */
  readonly keys?: number
  /** Set while the store is unavailable. */
  readonly outage?: OutageReport
}

/** Whom a limiter denied, and what else a report has of clients. */
export type ClientFigures = Pick<
  LimiterReport,
  'near' | 'denials' | 'denied' | 'candidate' | 'candidateClients'
>

/** What a limiter did, without its clients. */
export type LimiterFigures = Omit<LimiterReport, keyof ClientFigures>

/** What one limiter did: in one process, or in all that share its store. */
export interface LimiterReport {
  readonly name: string
  readonly mode: Mode
  /** When counting began. */
  readonly sinceMs: number
  readonly traffic: TrafficReport
  readonly limits: readonly LimitRow[]
  readonly near: readonly NearClient[]
  /** The last run of denials by limits. Absent if they have denied nothing. */
  readonly run?: DenialRun
  /** How many of the denials in the last minute are of processes whose clients are not known. Absent if it is 0. */
  readonly unknownPerMinute?: number
  /** The last run of blocked requests, which are no denials by a limit. Absent if there was none. */
  readonly blocked?: DenialRun
  readonly denials: DenialFigures
  /** The clients that were denied most. */
  readonly denied: readonly DeniedRow[]
  readonly store: StoreReport
  readonly candidate?: CandidateReport
  readonly candidateClients?: CandidateClients
}
