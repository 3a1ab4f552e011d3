import { weakMemo } from '../util/memo.js'
import { isObject } from '../util/values.js'
import type { PeriodAt } from './calendar.js'
import type { JudgeDenials } from './judge-denials.js'
import { isSpec, type PolicySpec, signatureOfSpec } from './spec.js'

/**
 * What a store keeps for one key: what its client has used, in units and times. `undefined` is a fresh
 * state. A state says nothing about the policy's numbers, so every policy of the kind can read it. Only
 * numbers that are part of the key (`keyCodeOf`) are the same for all states of a key.
 */
export type State = readonly number[]

/** A policy's decision on one charge of one key. All times are milliseconds from the given `nowMs`. */
export interface Step {
  /** Whether `cost` units could be taken. Always true for cost 0, which is a peek. */
  readonly allowed: boolean
  /** Whole units left after this step. */
  readonly remaining: number
  /**
   * The time until the state is fresh again, if no more is taken. 0 if it is fresh now, `Infinity` if it
   * never will be by itself.
   */
  readonly resetAfterMs: number
  /**
   * The time until all units are back. Set if the state is fresh only later, as after denials that a ban
   * counts.
   */
  readonly unitsAfterMs?: number
  /**
   * The time until the same cost is allowed, exactly. 0 if it was allowed, `Infinity` if time alone never
   * allows it.
   */
  readonly retryAfterMs: number
  /**
   * The time until `remaining` grows. 0 if all units are left, `Infinity` if time alone brings none back.
   */
  readonly moreAfterMs: number
  /** Whole units that were taken beyond the limit. Absent if none were. */
  readonly debt?: number
  /** Set on a denial that counts, as in a ban: the next one may be denied for longer. */
  readonly isCounted?: true
  /** Set on a denial during a ban. */
  readonly isBanned?: true
  /** The state to keep. `undefined` or absent if the state stays as it is. */
  readonly next?: State | undefined
}

/**
 * An algorithm and its numbers: frozen and pure. Time is an argument, in milliseconds since the Unix epoch,
 * as a double. Every policy keeps the following rules, except that `concurrency` does not keep 3 and 7.
 *
 * 1. A denial takes nothing, and cost 0 is a peek that writes nothing. A denial writes in two cases only. A
 *    `ban` counts it, and a state from a clock that was ahead is clamped, so that it locks no client out.
 * 2. The cost admitted in any span of time is at most what the policy's documentation promises.
 * 3. `retryAfterMs` is exact: the same cost is denied 1 ms before it and allowed at it.
 * 4. A cost above `limit` can never be allowed: `retryAfterMs` is `Infinity`.
 * 5. A clock that steps back grants nothing. It locks no client out for longer than the policy's
 *    documentation says.
 * 6. A state whose `resetAfterMs` is 0 may be dropped without changing any decision.
 * 7. In the long run, rates are exact to 0.01%.
 */
export interface Policy {
  /**
   * The algorithm and its numbers as plain data that survives JSON. Policies with equal specs decide alike.
   */
  readonly spec: PolicySpec
  /**
   * The name of the limit in headers and keys. By default, it is made from the numbers, such as
   * `100-in-1min`.
   */
  readonly name: string
  /** The largest cost that can be taken at once. */
  readonly limit: number
  /**
   * The time over which `limit` applies. `Infinity` if it never resets by itself. With `periodAt`, the
   * nominal length of a period: 30 days for a month.
   */
  readonly windowMs: number
  /**
   * Returns the calendar period that contains a moment. Set if the policy counts in such periods, as `quota`
   * does. If a store's clock does not follow the system clock, the store gives such a policy the time of the
   * system clock instead.
   */
  readonly periodAt?: PeriodAt
  /**
   * With `periodAt`: returns a policy, this one or a copy, that takes the times of another clock. `aheadAt`
   * returns how far the system clock is ahead of it.
   */
  readonly shift?: (policy: Policy, aheadAt: (nowMs: number) => number) => Policy
  /** How many numbers a state has. All zeros is also a fresh state. Absent if states differ in length. */
  readonly width?: number
  /**
   * The largest debt that `take` with `mayOwe` may leave, in units. A charge never leaves one. Default 0.
   */
  readonly debt?: number
  /**
   * Takes `cost` whole units at `nowMs`. Never changes `state`: the state to keep is the step's `next`. With
   * `mayOwe`, up to `debt` units more than the limit may be taken.
   */
  take(state: State | undefined, nowMs: number, cost: number, mayOwe?: boolean): Step
  /**
   * Returns the state without `cost` units that were taken at `takenAtMs`. Returns the same object if
   * nothing changes, and `undefined` if no policy of the kind would find a unit in use. Never gives back
   * more than that, nor units that time has already brought back. Call it on the policy that took the units,
   * because it computes the latter by its own numbers. `resetAtMs` is when that charge's step expected all
   * units back. By default, the state before the charge counts as fresh.
   *
   * If a policy with other numbers has changed the state since, a log, a sliding window and a window from
   * the first request give back only what the state still has of the charge. The states of other kinds do
   * not show that.
   */
  refund(state: State, nowMs: number, cost: number, takenAtMs: number, resetAtMs?: number): State | undefined
  /**
   * Returns the state with `units` more left at `nowMs`, whenever they were taken. Returns the same object
   * if nothing changes, and `undefined` if the state is fresh. Never goes beyond a fresh state.
   */
  reward(state: State, nowMs: number, units: number): State | undefined
  /**
   * Returns the state that a clock at `nowMs` can have written: the same object, unless only a clock that
   * was ahead can have written it. `take` reads the clamped state.
   */
  clampToNow(state: State | undefined, nowMs: number): State | undefined
  /**
   * Whether units are in use from a charge until their release, as with `concurrency`. Callers renew them
   * within `ttlMs`, and release them by a refund. They take no units in advance, and reward none. They do
   * not repeat a denial, because any release may end it. Default false.
   */
  readonly holdsUnits?: boolean
  /** With `holdsUnits`: how long units stay held without renewal, at least. */
  readonly ttlMs?: number
  /**
   * With `holdsUnits`: returns the state in which `cost` units, held since `takenAtMs`, are held as if taken
   * at `nowMs`. That includes units that the state has lost. `resetAtMs` is as for a refund.
   */
  renew?(state: State | undefined, nowMs: number, cost: number, takenAtMs: number, resetAtMs?: number): State
  /**
   * Whether denials count, as with `ban`: enough of them start a ban, which denies everything. Callers send
   * the policy each charge that it may have to count, and those that it should not count to `uncounted`. A
   * store keeps a state even if it holds only denials. Default false.
   */
  readonly isBan?: boolean
  /** With `isBan`: the same policy, except that it counts no denials. Absent if it already counts none. */
  readonly uncounted?: Policy
  /**
   * With `uncounted`: decides which bans count the denial of a charge whose outcome was awaited. See
   * `judgeDenials`.
   */
  readonly judgeDenials?: JudgeDenials
  /** With `isBan`: the length of the longest ban. */
  readonly longestBanMs?: number
  /** With `isBan`: returns the state with a ban of `forMs`, at most `longestBanMs`. Never shortens a ban. */
  block?(state: State | undefined, nowMs: number, forMs: number): State
  /** With `isBan`: returns how long a ban in the state still lasts, or 0 if there is none. */
  bannedForMs?(state: State, nowMs: number): number
  /**
   * Returns a policy with a share of this one's limit, at least 1, in the same window. Rounding only lowers
   * its rate: that of a token bucket by at most 0.01%.
   */
  scale(share: number): Policy
}

/** Returns a share of a limit: whole units, at least one. A third of 3 is 1, whatever doubles say. */
export function shareOf(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share + 1e-9))
}

/** Returns a string that identifies a policy's decisions. */
export const signatureOf = /* @__PURE__ */ weakMemo(({ spec }: Policy) => signatureOfSpec(spec))

export function isSamePolicy(a: Policy, b: Policy): boolean {
  return a === b || signatureOf(a) === signatureOf(b)
}

/** Returns whether a value has what a policy needs, including what `holdsUnits` and `isBan` need. */
export function isPolicy(value: unknown): value is Policy {
  if (!isObject(value)) return false
  const fields: Partial<Record<keyof Policy, unknown>> = value
  const { spec, take, refund, clampToNow, scale, width } = fields
  const { holdsUnits, ttlMs, renew, isBan, longestBanMs, block, bannedForMs } = fields
  const hasMethods = areFunctions(take, refund, clampToNow, scale)
  if (holdsUnits && !(Number.isFinite(ttlMs) && areFunctions(renew))) return false
  if (isBan && !(Number.isFinite(longestBanMs) && areFunctions(block, bannedForMs))) return false
  return isSpec(spec) && hasMethods && (width === undefined || Number.isInteger(width))
}

function areFunctions(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'function')
}
