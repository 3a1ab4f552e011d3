import { readOptions } from '../options/option-table.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidInSlice } from './prepaid.js'
import { WINDOW_HINT, WINDOW_ROWS, type WindowOptions, windowName } from './window-options.js'

/** What a fixed window is made of. */
export type FixedWindowOptions = WindowOptions

const OPTIONS = { rows: WINDOW_ROWS, hint: WINDOW_HINT }

/**
 * A counter per window, with windows aligned to the clock (the Unix epoch): the cheapest policy, and the one whose
 * quota comes back all at once. State: the window's index, and the count.
 *
 * **Bound.** A true window of the same length touches at most two aligned ones, each with at most `limit`: at most
 * `2 × limit` units. In the long run `limit` per window, exactly.
 *
 * **Clock.** After a step back, a state goes on counting in its own later window, at most the next one, so that the step
 * grants nothing. Nobody waits for longer than two windows.
 *
 * **Refunds** reach only the window in which the units were taken.
 */
export function fixedWindow(options: FixedWindowOptions): Policy {
  const { limit, window, name } = readOptions('fixedWindow', options, OPTIONS)
  return makeFixedWindow(name ?? windowName(limit, window), limit, window)
}

function makeFixedWindow(name: string, limit: number, windowMs: number): Policy {
  const indexOf = (atMs: number) => Math.floor(atMs / windowMs)

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const nowIndex = indexOf(nowMs)
    const stateIndex = state === undefined ? nowIndex : (state[0] as number)
    const fromFarAhead = stateIndex > nowIndex + 1
    const index = fromFarAhead ? nowIndex + 1 : Math.max(stateIndex, nowIndex)
    const count = state !== undefined && stateIndex >= nowIndex ? (state[1] as number) : 0
    const endsAfterMs = (index + 1) * windowMs - nowMs
    if (cost === 0 || count + cost <= limit) {
      const resetAfterMs = count + cost === 0 ? 0 : endsAfterMs
      const next = cost === 0 ? undefined : [index, count + cost]
      const remaining = Math.max(0, limit - count - cost)
      return { allowed: true, remaining, resetAfterMs, retryAfterMs: 0, moreAfterMs: resetAfterMs, next }
    }
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const next = fromFarAhead ? [index, count] : undefined
    return {
      allowed: false,
      remaining: Math.max(0, limit - count),
      resetAfterMs,
      retryAfterMs,
      moreAfterMs: resetAfterMs,
      next,
    }
  }

  function refund(state: State, _nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const [index, count] = state as [number, number]
    if (cost === 0 || index !== indexOf(takenAtMs)) return state
    return count > cost ? [index, count - cost] : undefined
  }

  return Object.freeze({
    kind: 'fixed-window' as const,
    name,
    limit,
    windowMs,
    width: 2,
    params: Object.freeze([limit, windowMs]),
    take,
    refund,
    prepaid: prepaidInSlice(indexOf),
    scaled: (share: number) => makeFixedWindow(name, shareOf(limit, share), windowMs),
  })
}
