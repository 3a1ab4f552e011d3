import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { Prepaid } from './prepaid.js'
import type { BaseSpec } from './spec.js'

/** How the kinds of counted windows differ. A window is one number: its index, or when it began. */
export interface WindowKind {
  readonly kind: 'fixed-window' | 'first-request-window'
  readonly prepaid: Prepaid
  /** Returns the window that a charge at `nowMs` begins. */
  windowAt(nowMs: number): number
  /** Returns the latest window that is possible at `nowMs`. */
  latestAt(nowMs: number): number
  endOf(window: number): number
  /** Returns whether a window has not ended, or has yet to begin. */
  isCurrent(window: number, nowMs: number): boolean
  /** Returns whether units that were taken at `takenAtMs` count in a window. */
  contains(window: number, takenAtMs: number): boolean
}

/** Creates a policy that counts up to `limit` in each window. State: the window, and its count. */
export function countedWindow(name: string, limit: number, windowMs: number, windows: WindowKind): Policy {
  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const [window, before] = currentCount(clamped, nowMs)
    const allowed = cost === 0 || before + cost <= limit
    const count = allowed ? before + cost : before
    const endsAfterMs = windows.endOf(window) - nowMs
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const after = allowed ? [window, count] : clamped
    const next = cost === 0 || after === state ? undefined : after
    const remaining = Math.max(0, limit - count)
    return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  /** Returns the window that counts a charge at `nowMs`, and its count: the state's, or a new one. */
  function currentCount(state: State | undefined, nowMs: number): readonly [window: number, count: number] {
    if (state === undefined) return [windows.windowAt(nowMs), 0]
    const [window = 0, count = 0] = state
    return count > 0 && windows.isCurrent(window, nowMs) ? [window, count] : [windows.windowAt(nowMs), 0]
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latest = windows.latestAt(nowMs)
    return state && (state[0] ?? 0) > latest ? [latest, state[1] ?? 0] : state
  }

  function refund(state: State, _nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const [window = 0, count = 0] = state
    return windows.contains(window, takenAtMs) ? without(state, window, count, cost) : state
  }

  function reward(state: State, nowMs: number, units: number): State | undefined {
    const [window, count] = currentCount(clampToNow(state, nowMs), nowMs)
    return without(state, window, count, units)
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({ kind: windows.kind, limit, windowMs }),
    name,
    limit,
    windowMs,
    width: 2,
    take,
    refund,
    reward,
    clampToNow,
    prepaid: windows.prepaid,
    scale: (share) => countedWindow(name, shareOf(limit, share), windowMs, windows),
  })
}

/**
 * Returns a state with fewer units in its window: the same object for 0 units, `undefined` if the window is
 * then empty.
 */
function without(state: State, window: number, count: number, units: number): State | undefined {
  if (units === 0) return state
  return count > units ? [window, count - units] : undefined
}
