import { type ChangeRules, specOfRules } from './change-options.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec } from './spec.js'

/** How the kinds of counted windows differ. A window is found by the time in a state. */
export interface WindowKind {
  /** Returns the spec for a limit, without its `debt` and `onChange`. */
  specOf(limit: number): CountedSpec
  /** Returns whether the window of a time has not ended. */
  isCurrent(atMs: number, nowMs: number): boolean
  /** Returns the time to keep after a charge at `nowMs`. `atMs` is that of the current window, if it has any. */
  chargedAt(atMs: number | undefined, nowMs: number): number
  /** Returns the latest time that a state can have at `nowMs`. */
  latestAt(nowMs: number): number
  /** Returns whether the window of a time counted a charge that expected its units back at `resetAtMs`. */
  hasCounted(atMs: number, takenAtMs: number, resetAtMs: number): boolean
  /** Returns when the window of a time ends. */
  endOf(atMs: number): number
  /** Set if windows are calendar periods, whose lengths differ. */
  readonly calendar?: Pick<Policy, 'periodAt' | 'shift'>
}

/** Returns how windows that follow one another, the same for all keys, are found by the time of the last charge. */
export function windowsByClock(startOf: (atMs: number) => number, endOf: WindowKind['endOf']) {
  return {
    isCurrent: (atMs, nowMs) => atMs >= startOf(nowMs),
    chargedAt: (atMs = 0, nowMs) => Math.max(atMs, nowMs),
    latestAt: endOf,
    hasCounted: (atMs, takenAtMs) => startOf(atMs) <= takenAtMs && takenAtMs < endOf(atMs),
    endOf,
  } satisfies Partial<WindowKind>
}

type CountedSpec = Extract<BaseSpec, { kind: 'fixed-window' | 'first-request-window' | 'quota' }>

/** The limit and the name of a counted window, and its rules of change. */
export interface CountedLimit extends ChangeRules {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/** Creates a policy that counts up to `limit` in each window. State: the count, and the time of its window. */
export function countedWindow(counted: CountedLimit, windows: WindowKind): Policy {
  const { name, limit, windowMs, debt } = counted

  function take(state: State | undefined, nowMs: number, cost: number, mayOwe = false): Step {
    const clamped = clampToNow(state, nowMs)
    const before = countIn(clamped, nowMs)
    const allowed = cost === 0 || before + cost <= (mayOwe ? limit + debt : limit)
    const count = allowed ? before + cost : before
    const atMs = windows.chargedAt(before > 0 ? clamped?.[1] : undefined, nowMs)
    const endsAfterMs = windows.endOf(atMs) - nowMs
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const after = allowed ? [count, atMs] : clamped
    const next = cost === 0 || after === state ? undefined : after
    const remaining = Math.max(0, limit - count)
    const step = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
    return count > limit ? { ...step, debt: count - limit } : step
  }

  /** Returns how many units a state has counted in a window that has not ended. */
  function countIn(state: State | undefined, nowMs: number): number {
    const count = state?.[0] ?? 0
    return count > 0 && windows.isCurrent(state?.[1] ?? 0, nowMs) ? count : 0
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    if (state === undefined) return undefined
    const latestMs = windows.latestAt(nowMs)
    return (state[1] ?? 0) > latestMs ? [state[0] ?? 0, latestMs] : state
  }

  /**
   * Returns units to the window that counted them. A longer window may have taken over a count without these
   * units, if their own window had ended.
   */
  const refund: Policy['refund'] = (state, nowMs, cost, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY) => {
    const atMs = state[1] ?? 0
    const isOver = Math.max(nowMs, atMs) >= resetAtMs
    return isOver || !windows.hasCounted(atMs, takenAtMs, resetAtMs) ? state : without(state, cost)
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({ ...windows.specOf(limit), ...specOfRules(counted) }),
    name,
    limit,
    windowMs,
    width: 2,
    ...windows.calendar,
    debt,
    take,
    refund,
    reward(state, nowMs, units) {
      if (units === 0) return state
      const left = without(clampToNow(state, nowMs) ?? state, units)
      return countIn(left, nowMs) > 0 ? left : undefined
    },
    clampToNow,
    scale: (share) => countedWindow({ ...counted, limit: shareOf(limit, share) }, windows),
  })
}

/** Returns a state with fewer units: the same object for 0 units, `undefined` if none is left. */
function without(state: State, units: number): State | undefined {
  const [count = 0, atMs = 0] = state
  if (units === 0) return state
  return count > units ? [count - units, atMs] : undefined
}
