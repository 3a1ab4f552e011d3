import type { PeriodAt } from './calendar.js'
import { type ChangeRules, specOfRules } from './change-options.js'
import { carryBack, carryOver, type Policy, type State, type Step, shareOf } from './policy.js'
import type { Prepaid } from './prepaid.js'
import type { BaseSpec } from './spec.js'

/** How the kinds of counted windows differ. */
export interface WindowKind {
  /** Returns the spec for a limit, without its `debt` and `onChange`. */
  specOf(limit: number): CountedSpec
  readonly prepaid: Prepaid
  /** Returns the start of the window, if the first charge in it comes at `nowMs`. */
  startAt(nowMs: number): number
  /** Returns the latest start that a window can have in a state written at `nowMs`. */
  latestStartAt(nowMs: number): number
  /** Returns the length of the window that begins at `startsAtMs`. */
  lengthOf(startsAtMs: number): number
  /** Returns the start of the window that takes over the count of an unfinished window of another length. */
  adoptStart(startsAtMs: number, nowMs: number): number
  /** Set if windows are calendar periods, whose lengths differ. */
  readonly periodAt?: PeriodAt
}

type CountedSpec = Extract<BaseSpec, { kind: 'fixed-window' | 'first-request-window' | 'quota' }>

/** The limit and the name of a counted window, and its rules of change. */
export interface CountedLimit extends ChangeRules {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/**
 * Creates a policy that counts up to `limit` in each window. State: the limit, the length of the window,
 * when it began, and its count.
 */
export function countedWindow(counted: CountedLimit, windows: WindowKind): Policy {
  const { name, limit, windowMs, debt, onChange } = counted
  const scales = onChange === 'scale'

  function take(state: State | undefined, nowMs: number, cost: number, mayOwe = false): Step {
    const clamped = clampToNow(state, nowMs)
    const isCurrent = clamped !== undefined && isCounting(clamped, nowMs)
    const startsAtMs = isCurrent ? (clamped[2] ?? 0) : windows.startAt(nowMs)
    const before = isCurrent ? (clamped[3] ?? 0) : 0
    const allowed = cost === 0 || before + cost <= (mayOwe ? limit + debt : limit)
    const count = allowed ? before + cost : before
    const lengthMs = windows.lengthOf(startsAtMs)
    const endsAfterMs = startsAtMs + lengthMs - nowMs
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const after = allowed ? [limit, lengthMs, startsAtMs, count] : clamped
    const next = cost === 0 || after === state ? undefined : after
    if (count > limit)
      return {
        allowed,
        remaining: 0,
        resetAfterMs,
        retryAfterMs,
        moreAfterMs: resetAfterMs,
        debt: count - limit,
        next,
      }
    return { allowed, remaining: limit - count, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    if (state === undefined) return undefined
    const oldLimit = state[0] ?? 0
    const startsAtMs = state[2] ?? 0
    const count = state[3] ?? 0
    const latestMs = windows.latestStartAt(nowMs)
    if (startsAtMs > latestMs) return [limit, windows.lengthOf(latestMs), latestMs, kept(count, oldLimit)]
    if (!isCounting(state, nowMs)) return state
    const isSameWindow =
      windows.lengthOf(startsAtMs) === state[1] && windows.startAt(startsAtMs) === startsAtMs
    if (isSameWindow && !(scales && oldLimit !== limit)) return state // the count stays as it is
    const adoptedMs = isSameWindow ? startsAtMs : windows.adoptStart(startsAtMs, nowMs)
    return [limit, windows.lengthOf(adoptedMs), adoptedMs, kept(count, oldLimit)]
  }

  const kept = (count: number, oldLimit: number) => carryOver(count, oldLimit, limit, scales)

  /**
   * Returns units to a state, even if it was written under another window or limit. A longer window may have
   * taken over a count without these units, if their window had ended.
   */
  const refund: Policy['refund'] = (state, nowMs, cost, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY) => {
    const [oldLimit = 0, lengthMs = 0, startsAtMs = 0] = state
    const isTakenHere = startsAtMs <= takenAtMs && takenAtMs < startsAtMs + lengthMs && nowMs < resetAtMs
    return isTakenHere ? without(state, carryBack(cost, limit, oldLimit, scales)) : state
  }

  function reward(state: State, nowMs: number, units: number): State | undefined {
    if (units === 0) return state
    const clamped = clampToNow(state, nowMs)
    return clamped && isCounting(clamped, nowMs) ? without(clamped, units) : undefined
  }

  const { periodAt } = windows
  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({ ...windows.specOf(limit), ...specOfRules(counted) }),
    name,
    limit,
    windowMs,
    width: 4,
    blank: [limit, periodAt ? 0 : windowMs, 0, 0],
    perKey: periodAt ? [1, 2, 3] : [2, 3],
    ...(periodAt && { periodAt }),
    debt,
    take,
    refund,
    reward,
    clampToNow,
    prepaid: windows.prepaid,
    scale: (share) => countedWindow({ ...counted, limit: shareOf(limit, share) }, windows),
  })
}

/** Returns whether a state has counted units in a window that has not ended. */
function isCounting(state: State, nowMs: number): boolean {
  return (state[3] ?? 0) > 0 && nowMs < (state[2] ?? 0) + (state[1] ?? 0)
}

/**
 * Returns a state with fewer units in its window: the same object for 0 units, `undefined` if the window is
 * then empty.
 */
function without(state: State, units: number): State | undefined {
  const [limit = 0, lengthMs = 0, startsAtMs = 0, count = 0] = state
  if (units === 0) return state
  return count > units ? [limit, lengthMs, startsAtMs, count - units] : undefined
}
