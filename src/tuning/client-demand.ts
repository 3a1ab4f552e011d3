import type { BaseSpec } from '../policies/spec.js'
import type { Curve } from './demand-curve.js'

/** What a client asked for at most, allowed or not, in the terms of the policy of a limit. */
export interface ClientDemand {
  /** The identity as stores keep it. */
  readonly identity: string
  /**
   * The smallest limit that would have denied it nothing. The window stays the same, so a token bucket with another
   * limit also has another refill.
   */
  readonly peak: number
  /** The peaks by which other numbers are judged. Absent if `peak` says it all. */
  readonly peaks?: Curve
  /** How many clients it stands for: more than 1 in a sample. */
  readonly weight: number
  /** Whether the limit in force denied it. */
  readonly wasDenied: boolean
}

/** What the clients of one limit demanded over a time. */
export interface LimitDemand {
  readonly limitName: string
  /** Set if it is a candidate: `wasDenied` says whom it would have denied. */
  readonly isCandidate?: true
  /** The policy in force, without its ban; absent for a log. */
  readonly policy?: BaseSpec
  /** The limit in force; absent if there is none, as for a log. */
  readonly limit?: number
  readonly windowMs: number
  readonly fromMs: number
  readonly toMs: number
  /** How many distinct clients there were, listed or not. */
  readonly clients: number
  /** All clients, or those with the largest peaks and a sample of the others. */
  readonly demands: readonly ClientDemand[]
}
