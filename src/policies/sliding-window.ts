import { readRows, withDefault } from '../options/option-table.js'
import { whole, wrongOption } from '../util/validate.js'
import { type ChangeRules, specOfRules } from './change-options.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec } from './spec.js'
import { WINDOW_FIXES, type WindowOptions, windowName, windowRows } from './window-options.js'

/** Options of `slidingWindow`. */
export interface SlidingWindowOptions extends WindowOptions {
  /** Counters per window, from 1 to 100. More counters follow the window more closely. Default 10. */
  slices?: number
}

const OPTIONS = {
  rows: windowRows({ slices: withDefault(10, whole(1, 100)) }),
  rules: { sliceCheck: { from: ['slices', 'window'], read: checkSlices } },
  fixes: WINDOW_FIXES,
} as const

function checkSlices(owner: string, { slices, window }: { slices: number; window: number }): void {
  if (slices > window) throw wrongOption(owner, 'slices', 'at most one per millisecond of the window', slices)
}

/**
 * Creates a policy that allows `limit` units per window, in a window that always ends now. It has one
 * counter for each slice of time, and sums them over the window. The oldest slice lies partly outside the
 * window. Its count is weighted by the part inside, rounded down.
 *
 * **Bound.** A window that ends in slice k overlaps slices k-n to k. Neither n whole slices nor one alone
 * exceed `limit`. So a window admits at most `limit` plus what was admitted in the oldest slice. That is
 * `2 × limit` for an attacker who sends a burst at the very end of a slice, and about
 * `limit × (1 + 1/slices)` for even traffic. In the long run, it is `limit` per window, less at most
 * 1/(window in milliseconds): 0.1% at one second.
 *
 * **Clock.** Read in whole milliseconds. After the clock steps back, a state keeps counting in its own
 * newest slice, at most one window ahead of now. So the step grants nothing, and no client waits for longer
 * than two windows and a slice.
 *
 * **Refunds** reach only the slice in which the units were taken.
 *
 * **Change of numbers.** If the limit changes, the counts stay in use. The window and the number of slices are
 * part of the key, so under others a client starts afresh.
 *
 * **State.** The newest slice's index, then `slices + 1` counters, newest first.
 *
 * @example
 * ```ts
 * import { rateLimit, slidingWindow } from 'headgate'
 *
 * const api = rateLimit({ policy: slidingWindow({ limit: 100, window: '1m' }) })
 * ```
 */
export function slidingWindow(options: SlidingWindowOptions): Policy {
  const { limit, window, name, slices, debt, onChange } = readRows('slidingWindow', options, OPTIONS)
  const fallback = windowName(limit, window)
  return makeSlidingWindow({ name: name ?? fallback, limit, windowMs: window, slices, debt, onChange })
}

/** Returns the slice of a moment, counted from the Unix epoch. Times are read in whole milliseconds. */
export function sliceIndex(atMs: number, windowMs: number, slices: number): number {
  return Math.floor((Math.floor(atMs) * slices) / windowMs)
}

/** A state at one moment: its counters, shifted to the slice of that moment. */
interface View {
  /** The newest slice: the current one, or the state's own if that is ahead. */
  readonly index: number
  /** The time since that slice began, in ticks. */
  readonly tick: number
  /** A copy of the counters, from the newest slice to the oldest. */
  readonly counts: number[]
}

interface SlidingLimit extends ChangeRules {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly slices: number
}

/** How many numbers come before the counters in a state. */
const HEAD = 1

/**
 * Returns the policy for valid numbers. Time is counted in ticks of 1/slices ms: a slice is exactly
 * `windowMs` ticks, and all numbers are whole.
 */
export function makeSlidingWindow(sliding: SlidingLimit): Policy {
  const { name, limit, windowMs, slices, debt } = sliding
  const sliceTicks = windowMs
  const width = HEAD + slices + 1
  const indexOf = (atMs: number) => sliceIndex(atMs, windowMs, slices)

  function viewAt(state: State | undefined, nowMs: number): View {
    const nowIndex = indexOf(nowMs)
    const ahead = state === undefined ? 0 : (state[0] ?? 0) - nowIndex
    const counts = new Array<number>(slices + 1).fill(0)
    const shift = Math.max(0, -ahead)
    if (state !== undefined) for (let i = shift; i <= slices; i++) counts[i] = state[HEAD + i - shift] ?? 0
    if (ahead > 0) return { index: nowIndex + ahead, tick: 0, counts }
    return { index: nowIndex, tick: Math.floor(nowMs) * slices - nowIndex * sliceTicks, counts }
  }

  function usedIn({ counts, tick }: View): number {
    let used = Math.floor(((counts[slices] ?? 0) * (sliceTicks - tick)) / sliceTicks)
    for (let i = 0; i < slices; i++) used += counts[i] ?? 0
    return used
  }

  /**
   * Returns the time from `nowMs` to the first whole millisecond at which at most `most` units are in use,
   * if no more are taken. Searches the slices one by one: each in turn becomes the oldest, counts by its
   * part inside the window, and leaves.
   *
   * Example: a window of 10 s in 10 slices, 6 units in slice 1 and 4 in slice 5, now 5.5 s, `most` = 7. All
   * 10 count until slice 1 becomes the oldest, at 11 s. Its 6 must then count for 3: floor(6 × part inside)
   * <= 3 holds once a third of the slice is outside. The result is 11,334 - 5500 = 5834.
   */
  function msUntilUsed(most: number, { index, tick, counts }: View, nowMs: number): number {
    let room = most // `most` less the slices that are still whole
    // This function casts, because a default for each read would make a decision a fifth slower.
    for (let i = 0; i <= slices; i++) room -= counts[i] as number
    for (let later = 0; later <= slices; later++) {
      const oldest = counts[slices - later] as number
      room += oldest
      if (room < 0) continue
      // The smallest t with floor(oldest × (sliceTicks - t) / sliceTicks) <= room.
      const t = oldest <= room ? 0 : sliceTicks - Math.ceil(((room + 1) * sliceTicks) / oldest) + 1
      const atTick = (index + later) * sliceTicks + Math.max(t, later === 0 ? tick : 0)
      return Math.max(0, Math.ceil(atTick / slices) - nowMs)
    }
    return Number.POSITIVE_INFINITY // in the last round room was `most`, which is negative
  }

  function take(state: State | undefined, nowMs: number, cost: number, mayOwe = false): Step {
    const clamped = clampToNow(state, nowMs)
    const view = viewAt(clamped, nowMs)
    const before = usedIn(view)
    const allowed = cost === 0 || before + cost <= (mayOwe ? limit + debt : limit)
    const retryAfterMs = allowed ? 0 : msUntilUsed(limit - cost, view, nowMs)
    if (allowed) view.counts[0] = (view.counts[0] ?? 0) + cost
    const used = allowed ? before + cost : before
    const after = allowed ? [view.index, ...view.counts] : clamped
    const step = {
      allowed,
      remaining: Math.max(0, limit - used),
      resetAfterMs: used === 0 ? 0 : msUntilUsed(0, view, nowMs),
      retryAfterMs,
      moreAfterMs: used === 0 ? 0 : msUntilUsed(Math.min(used, limit) - 1, view, nowMs),
      next: cost === 0 || after === state ? undefined : after,
    }
    return used > limit ? { ...step, debt: used - limit } : step
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latest = indexOf(nowMs) + slices
    return state && (state[0] ?? 0) > latest ? [latest, ...state.slice(HEAD)] : state
  }

  /** Returns units to the slice that counted them. */
  function refund(state: State, nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const at = HEAD + (state[0] ?? 0) - indexOf(takenAtMs)
    const count = at >= HEAD ? (state[at] ?? 0) : 0
    if (cost === 0 || count === 0) return state
    const next = state.map((value, i) => (i === at ? Math.max(0, count - cost) : value))
    return usedIn(viewAt(clampToNow(next, nowMs), nowMs)) === 0 ? undefined : next
  }

  /**
   * Gives back the newest units first, because they count for longest. The oldest slice counts only in part,
   * so more of its units are given back: it keeps the largest count whose part is small enough.
   */
  function reward(state: State, nowMs: number, units: number): State | undefined {
    if (units === 0) return state
    const { index, tick, counts } = viewAt(clampToNow(state, nowMs), nowMs)
    let left = units
    for (let i = 0; i < slices; i++) {
      const count = counts[i] ?? 0
      const freedUnits = Math.min(left, count)
      counts[i] = count - freedUnits
      left -= freedUnits
    }
    const oldest = counts[slices] ?? 0
    const kept = Math.floor((oldest * (sliceTicks - tick)) / sliceTicks) - left
    if (left > 0 && kept <= 0) return undefined // all other slices are empty
    if (left > 0)
      counts[slices] = Math.min(oldest, Math.ceil(((kept + 1) * sliceTicks) / (sliceTicks - tick)) - 1)
    return usedIn({ index, tick, counts }) === 0 ? undefined : [index, ...counts]
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({
      kind: 'sliding-window',
      limit,
      windowMs,
      slices,
      ...specOfRules(sliding),
    }),
    name,
    limit,
    windowMs,
    width,
    debt,
    take,
    refund,
    reward,
    clampToNow,
    scale: (share) => makeSlidingWindow({ ...sliding, limit: shareOf(limit, share) }),
  })
}
