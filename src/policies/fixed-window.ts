import { readOptions, withDefault } from '../options/option-table.js'
import { wrongOption } from '../util/validate.js'
import { firstRequestWindow } from './first-request-window.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidInSlice } from './prepaid.js'
import { WINDOW_OPTIONS, type WindowOptions, windowName } from './window-options.js'

/** Options of `fixedWindow`. */
export interface FixedWindowOptions extends WindowOptions {
  /**
   * When a window begins. `'clock'`: at multiples of its length since the Unix epoch, for all keys together.
   * `'first-request'`: for each key with its first charge. Default `'clock'`.
   */
  startsAt?: 'clock' | 'first-request'
}

const OPTIONS = {
  rows: { ...WINDOW_OPTIONS.rows, startsAt: withDefault('clock', readStart) },
  fixes: WINDOW_OPTIONS.fixes,
}

function readStart(owner: string, option: string, value: unknown): 'clock' | 'first-request' {
  if (value === 'clock' || value === 'first-request') return value
  const fix = "Write startsAt: 'first-request' to begin each client's window with its first request."
  throw wrongOption(owner, option, "'clock' or 'first-request'", value, fix)
}

/**
 * Creates one counter per window. A window admits `limit`, and its quota comes back all at once when it ends.
 *
 * - `startsAt: 'clock'`, the default: windows are aligned to the Unix epoch, so a window of a day is a day in
 *   UTC. All clients get their quota back at the same moment. The cheaper one in memcached. State: the
 *   window's index and the count.
 * - `startsAt: 'first-request'`: a window begins with a client's first request, and the first request after
 *   its end begins the next one, as in express-rate-limit. Clients get their quota back at different moments.
 *   State: when the window began, and the count.
 *
 * **Bound.** Any span of one window's length overlaps at most two windows, each with at most `limit`: at
 * most `2 × limit` units. In the long run at most `limit` per window.
 *
 * **Clock.** A step back grants nothing. By the clock, a state keeps counting in its own window, at most the
 * one after now's, and nobody waits for longer than two windows. From the first request, a window that would
 * begin later begins now, and nobody waits for longer than one. If the clock then steps forward again, that
 * window may be shorter by that step.
 *
 * **Refunds** reach only the window in which the units were taken.
 */
export function fixedWindow(options: FixedWindowOptions): Policy {
  const { limit, window, name, startsAt } = readOptions('fixedWindow', options, OPTIONS)
  const make = startsAt === 'clock' ? clockWindow : firstRequestWindow
  return make(name ?? windowName(limit, window), limit, window)
}

function clockWindow(name: string, limit: number, windowMs: number): Policy {
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

  function reward(state: State, nowMs: number, units: number): State | undefined {
    const [index, count] = windowAt(clampToNow(state, nowMs), nowMs)
    if (units === 0) return state
    return count > units ? [index, count - units] : undefined
  }

  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'fixed-window', limit, windowMs }),
    name,
    limit,
    windowMs,
    width: 2,
    take,
    refund,
    reward,
    clampToNow,
    prepaid: prepaidInSlice(indexOf),
    scale: (share) => clockWindow(name, shareOf(limit, share), windowMs),
  })
}
