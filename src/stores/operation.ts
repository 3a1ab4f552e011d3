import type { Policy } from '../policies/policy.js'

/** A key and its policy. A key belongs to one policy. */
export interface KeyedPolicy {
  /** The complete key, of bounded length; a store uses it as it is. */
  readonly key: string
  readonly policy: Policy
}

/** Takes whole `units` of a key, or as many as are left. A ban does not count it as a denial. 0 only reads. */
export interface Take extends KeyedPolicy {
  readonly type: 'take'
  readonly units: number
}

/** Gives whole `units` back to a key, or as many as it has taken, whenever they were taken. Ends no ban. */
export interface Reward extends KeyedPolicy {
  readonly type: 'reward'
  readonly units: number
}

/** Bans a key for `forMs`, at most the longest ban of its policy, which must be a `ban`. Ends no longer ban. */
export interface Block extends KeyedPolicy {
  readonly type: 'block'
  readonly forMs: number
}

/**
 * A change of one key: what to do, instead of a function that does it. Of `concurrency`, whose units are in use,
 * an operation may only read: a take of 0.
 */
export type Operation = Take | Reward | Block

/** What a key has after an operation. Durations are milliseconds from `atMs`; `Infinity` is never. */
export interface Standing {
  /** When the operation was applied, by the store's clock, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Units left; none during a ban. */
  readonly remaining: number
  /** Until `remaining` grows. 0 when nothing is missing. */
  readonly moreAfterMs: number
  /** Until nothing is left of what was taken. */
  readonly resetAfterMs: number
  /** Until a ban ends; 0 where there is none. */
  readonly bannedForMs: number
}

/** What a `take` took. */
export interface TakeResult extends Standing {
  readonly type: 'take'
  /** Whole units: `units` of the operation, or fewer. */
  readonly taken: number
}

/** The result of an operation that takes nothing. */
export interface ChangeResult extends Standing {
  readonly type: 'reward' | 'block'
}

/** The result of an operation. */
export type Result = TakeResult | ChangeResult
