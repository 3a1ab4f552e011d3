import type { Mode } from '../../limiter/access-rules.js'
import type { CandidateClients, CandidateReport } from '../../limiter/candidate/candidate-report.js'
import type { BreakerState } from '../../pipe/breaker-state.js'
import type { OutageReport } from './outage.js'

/** The most clients in a list of a report. */
export const MAX_LISTED = 20

/** Decisions over time, in slots of equal length; the oldest slot first, the last one still open. */
export interface TrafficReport {
  /** The number of the last slot: its start since the Unix epoch, divided by the length of a slot. */
  readonly lastSlot: number
  readonly allowed: readonly number[]
  readonly denied: readonly number[]
  /** Decisions a second over the last minute, up to the moment of the report. */
  readonly perSecond: { readonly allowed: number; readonly denied: number }
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

/** A client that has used 80 % of a limit. */
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
  readonly identity: string
  /** How often; a lower bound if very many clients were denied. */
  readonly denied: number
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

/** What one limiter did: in one process, or in all that share its store. */
export interface LimiterReport {
  readonly name: string
  readonly mode: Mode
  readonly traffic: TrafficReport
  readonly limits: readonly LimitRow[]
  readonly near: readonly NearClient[]
  readonly denied: readonly DeniedRow[]
  readonly store: StoreReport
  readonly candidate?: CandidateReport
  readonly candidateClients?: CandidateClients
}
