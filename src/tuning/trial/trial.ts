import type { LimitSettings } from '../../limiter/settings-document.js'

/**
 * Where a trial is. In `starting`, `promoting`, `reverting` and `stopping`, a change of the settings is due,
 * which any process may make. In the others, the trial waits: for its time to pass, or for an approval.
 */
export type TrialPhase =
  | 'starting'
  | 'watching'
  | 'ready'
  | 'promoting'
  | 'guarding'
  | 'reverting'
  | 'stopping'
  | 'ended'

/** The phases in which a change of the settings is due. */
export type DuePhase = Extract<TrialPhase, 'starting' | 'promoting' | 'reverting' | 'stopping'>

/** How a trial ended. Only after `kept`, the limit that was tried is in force because of the trial. */
export type TrialOutcome = 'kept' | 'reverted' | 'stopped' | 'overridden' | 'expired' | 'refused'

/** What a trial tries, and when it is reverted. */
export interface TrialPlan {
  readonly limiter: string
  readonly limitName: string
  /** The limit to try. */
  readonly limit: number
  /** The clients that the proposal set apart, and the smallest peak among them. */
  readonly apart: readonly string[]
  readonly apartFrom?: number
  /** How long the limit runs as a candidate. */
  readonly watchMs: number
  /** How long after the promotion the limit may still be reverted. */
  readonly guardMs: number
  /** The limit is reverted if the share of denied clients in good standing rises by more than this, such as 0.01. */
  readonly maxHarmedShare: number
}

/** What a limit did, or would have done. */
export interface TrialFigures {
  readonly clients: number
  /** How many of them it denied. */
  readonly denied: number
  /** The identities of some of them, those with the largest peaks first. */
  readonly identities: readonly string[]
  /** Whether a candidate's own decisions were counted, or are estimated from what clients demanded. */
  readonly from?: 'decisions' | 'demands'
}

/** Clients in good standing, and how many of them are denied. */
export interface Standing extends TrialFigures {
  /** The identities of those nearest to the limit. */
  readonly known: readonly string[]
}

/** A step of a trial, for the event log. The log keeps an event once, by its `id`. */
export interface TrialEvent {
  readonly id: string
  readonly atMs: number
  readonly kind: 'tune'
  readonly text: string
  readonly limiter: string
  readonly by?: string
  readonly reason?: string
  readonly details: { readonly trial: string; readonly phase: TrialPhase }
}

/** Who wants something, and why. */
export interface TrialOrigin {
  readonly by: string
  readonly reason: string
}

/** A limit on trial, as its document keeps it. */
export interface Trial extends TrialPlan {
  readonly id: string
  /** Who started it, or approved it last: the settings' history names them. */
  readonly origin: TrialOrigin
  readonly phase: TrialPhase
  readonly phaseSinceMs: number
  /** What the settings had for the limit before; `null` if nothing. */
  readonly before: LimitSettings | null
  /** Which clients the candidate would have newly denied. Set with `standing` when it has run long enough. */
  readonly watched?: TrialFigures
  /** Who was in good standing before the promotion. */
  readonly standing?: Standing
  /** What the limit did to clients in good standing after the promotion. */
  readonly guarded?: TrialFigures
  /** How it ends: in `reverting` and `stopping`, and when it has ended. */
  readonly outcome?: TrialOutcome
  /** Why the limiter cannot have this limit. */
  readonly problem?: string
  /** All steps so far, the oldest first. */
  readonly events: readonly TrialEvent[]
}

/** Returns whether a change of the settings is due. */
export function isDue(phase: TrialPhase): phase is DuePhase {
  return phase === 'starting' || phase === 'promoting' || phase === 'reverting' || phase === 'stopping'
}
