/**
 * An independent model of the policies and operations, written from `docs/policies.md` and the comments on
 * `Store` and `Operation`. It shares no code with `src`, and prefers the plainest rule to the fastest: it
 * counts units one by one, and searches for times instead of computing them.
 */

/** What is left of a limit. Durations are milliseconds from now; `Infinity` is never. */
export interface Figures {
  readonly remaining: number
  readonly moreAfterMs: number
  readonly resetAfterMs: number
  readonly bannedForMs: number
}

/** When units were taken, and when their charge expected time to have restored them. */
export interface Taken {
  readonly cost: number
  readonly takenAtMs: number
  readonly resetAtMs?: number | undefined
}

/** A policy as plain rules on an immutable state `S`. */
export interface Reference<S> {
  readonly limit: number
  fresh(): S
  figures(state: S, nowMs: number): Figures
  /** Returns the state with `cost` units more; `undefined` if they are denied. */
  take(state: S, nowMs: number, cost: number): S | undefined
  /** Returns how long time alone needs until a denied cost is allowed. */
  retryAfterMs(state: S, nowMs: number, cost: number): number
  /** Returns the latest state that is possible at `nowMs`, in place of one that a clock ahead has written. */
  settle(state: S, nowMs: number): S
  /** Returns the state after a denial. Only a ban counts denials. */
  deny(state: S, nowMs: number): S
  refund(state: S, nowMs: number, taken: Taken): S
  reward(state: S, nowMs: number, units: number): S
  block?(state: S, nowMs: number, forMs: number): S
  renew?(state: S, nowMs: number, taken: Taken): S
}

/** The figures of a limit of which nothing is missing. */
export function unused(limit: number): Figures {
  return { remaining: limit, moreAfterMs: 0, resetAfterMs: 0, bannedForMs: 0 }
}
