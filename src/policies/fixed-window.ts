import { readOptions } from '../options/option-table.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidInSlice } from './prepaid.js'
import { WINDOW_OPTIONS, type WindowOptions, windowName } from './window-options.js'

/** Options of `fixedWindow`. */
export type FixedWindowOptions = WindowOptions

/**
 * Creates one counter per window; windows are aligned to the Unix epoch. The cheapest policy, and the one
 * whose quota comes back all at once. State: the window's index and the count.
 *
 * **Bound.** Any span of one window's length overlaps at most two windows, each with at most `limit`: at
 * most `2 × limit` units. In the long run exactly `limit` per window.
 *
 * **Clock.** After the clock steps back, a state keeps counting in its own window, at most the one after
 * now's, so that the step grants nothing. Nobody waits for longer than two windows.
 *
 * **Refunds** reach only the window in which the units were taken.
 */
export function fixedWindow(options: FixedWindowOptions): Policy {
  const { limit, window, name } = readOptions('fixedWindow', options, WINDOW_OPTIONS)
  return makeFixedWindow(name ?? windowName(limit, window), limit, window)
}

function makeFixedWindow(name: string, limit: number, windowMs: number): Policy {
  const indexOf = (atMs: number) => Math.floor(atMs / windowMs)

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const [index, before] = windowAt(clamped, nowMs)
    const allowed = cost === 0 || before + cost <= limit
    const count = allowed ? before + cost : before
    const endsAfterMs = (index + 1) * windowMs - nowMs
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const kept = allowed ? [index, count] : clamped
    const next = cost === 0 || kept === state ? undefined : kept
    const remaining = Math.max(0, limit - count)
    return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  function windowAt(state: State | undefined, nowMs: number): readonly [index: number, count: number] {
    const nowIndex = indexOf(nowMs)
    const isCurrent = state !== undefined && (state[0] as number) >= nowIndex
    return isCurrent ? (state as readonly [number, number]) : [nowIndex, 0]
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latest = indexOf(nowMs) + 1
    return state && (state[0] as number) > latest ? [latest, state[1] as number] : state
  }

  function refund(state: State, _nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const [index, count] = state as readonly [number, number]
    if (cost === 0 || index !== indexOf(takenAtMs)) return state
    return count > cost ? [index, count - cost] : undefined
  }

  return Object.freeze<Policy>({
    kind: 'fixed-window',
    name,
    limit,
    windowMs,
    width: 2,
    params: Object.freeze([limit, windowMs]),
    take,
    refund,
    clampToNow,
    prepaid: prepaidInSlice(indexOf),
    scale: (share) => makeFixedWindow(name, shareOf(limit, share), windowMs),
  })
}
