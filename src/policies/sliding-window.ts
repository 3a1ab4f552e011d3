import { readOptions, withDefault } from '../options/option-table.js'
import { whole, wrongOption } from '../util/validate.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidInSlice } from './prepaid.js'
import { WINDOW_HINT, WINDOW_ROWS, type WindowOptions, windowName } from './window-options.js'

/** What a sliding window is made of. */
export interface SlidingWindowOptions extends WindowOptions {
  /** Counters per window, from 1 to 100. More follow the window more closely and take more room. Default 10. */
  slices?: number
}

const OPTIONS = {
  rows: { ...WINDOW_ROWS, slices: withDefault(10, whole(1, 100)) },
  rules: { sliceCheck: { from: ['slices', 'window'], read: checkSlices } },
  hint: WINDOW_HINT,
} as const

function checkSlices(owner: string, { slices, window }: { slices: number; window: number }): void {
  if (slices > window) throw wrongOption(owner, 'slices', 'at most one per millisecond of the window', slices)
}

/**
 * Counters per slice of time, summed over the window that ends now. The oldest slice lies partly outside the window
 * and counts by how much of it is still inside, rounded down. State: the newest slice's index, then `slices + 1`
 * counters, newest first.
 *
 * **Bound.** A true window that ends in slice k touches slices k-n to k. The sum of n whole slices never exceeds
 * `limit`, and neither does one slice alone, so at most `limit` plus what was admitted in the oldest slice: `2 × limit`
 * for an attacker who places a burst at the very end of a slice, about `limit × (1 + 1/slices)` for even traffic. In the
 * long run `limit` per window, less at most 1/(window in milliseconds): 0.1 % at one second.
 *
 * **Clock.** Read in whole milliseconds. After a step back, a state goes on counting in its own newest slice, at most one
 * window ahead of now, so that the step grants nothing. Nobody waits for longer than two windows and a slice.
 *
 * **Refunds** reach only the slice in which the units were taken.
 */
export function slidingWindow(options: SlidingWindowOptions): Policy {
  const { limit, window, name, slices } = readOptions('slidingWindow', options, OPTIONS)
  return makeSlidingWindow(name ?? windowName(limit, window), limit, window, slices)
}

/*
 * Time is counted in ticks of 1/slices ms, so that a slice is exactly `windowMs` ticks long and all arithmetic is on
 * whole numbers, whatever the window and the number of slices.
 */
function makeSlidingWindow(name: string, limit: number, windowMs: number, slices: number): Policy {
  const sliceTicks = windowMs
  const indexOf = (atMs: number) => Math.floor((Math.floor(atMs) * slices) / sliceTicks)

  /** A state as seen at one moment: its counters, copied, moved to the slice of now. */
  interface View {
    readonly index: number // the slice that is the newest now
    readonly tick: number // how far now is into that slice
    readonly counts: number[] // counts[0] in the newest slice, counts[slices] in the oldest
    readonly moved: boolean // came from a clock that was more than a window ahead
  }

  function view(state: State | undefined, nowMs: number): View {
    const ticks = Math.floor(nowMs) * slices
    const nowIndex = indexOf(nowMs)
    const tick = ticks - nowIndex * sliceTicks
    const ahead = state === undefined ? 0 : (state[0] as number) - nowIndex
    if (ahead <= 0) return { index: nowIndex, tick, counts: shifted(state, -ahead), moved: false }
    return {
      index: nowIndex + Math.min(ahead, slices),
      tick: 0,
      counts: shifted(state, 0),
      moved: ahead > slices,
    }
  }

  function shifted(state: State | undefined, by: number): number[] {
    const counts = new Array<number>(slices + 1).fill(0)
    if (state === undefined) return counts
    for (let i = by; i <= slices; i++) counts[i] = state[1 + i - by] as number
    return counts
  }

  function used({ counts, tick }: View): number {
    let whole = 0
    for (let i = 0; i < slices; i++) whole += counts[i] as number
    return whole + Math.floor(((counts[slices] as number) * (sliceTicks - tick)) / sliceTicks)
  }

  /** Milliseconds from `nowMs` to the first whole one at which at most `most` units are in use, if no more are taken. */
  function afterMs({ index, tick, counts }: View, nowMs: number, most: number): number {
    let room = most
    for (let i = 0; i <= slices; i++) room -= counts[i] as number
    for (let later = 0; later <= slices; later++) {
      const oldest = counts[slices - later] as number
      room += oldest // what the whole slices leave of `most` once this slice is the oldest one
      if (room < 0) continue
      // Smallest t with floor(oldest × (sliceTicks - t) / sliceTicks) <= room.
      const t = oldest <= room ? 0 : sliceTicks - Math.ceil(((room + 1) * sliceTicks) / oldest) + 1
      const fromTick = (index + later) * sliceTicks + Math.max(t, later === 0 ? tick : 0)
      return Math.max(0, Math.ceil(fromTick / slices) - nowMs)
    }
    return Number.POSITIVE_INFINITY // not reached for most >= 0: with every slice the oldest or gone, room = most
  }

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const at = view(state, nowMs)
    const count = used(at)
    if (cost > 0 && count + cost > limit) {
      const retryAfterMs = cost > limit ? Number.POSITIVE_INFINITY : afterMs(at, nowMs, limit - cost)
      return figures(false, at, nowMs, count, retryAfterMs, at.moved)
    }
    at.counts[0] = (at.counts[0] as number) + cost
    return figures(true, at, nowMs, count + cost, 0, cost > 0)
  }

  function figures(
    allowed: boolean,
    at: View,
    nowMs: number,
    count: number,
    retryAfterMs: number,
    keep: boolean,
  ): Step {
    const resetAfterMs = count === 0 ? 0 : afterMs(at, nowMs, 0)
    const moreAfterMs = count === 0 ? 0 : afterMs(at, nowMs, Math.min(count, limit) - 1)
    const next = keep ? [at.index, ...at.counts] : undefined
    return { allowed, remaining: Math.max(0, limit - count), resetAfterMs, retryAfterMs, moreAfterMs, next }
  }

  function refund(state: State, nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const at = 1 + (state[0] as number) - indexOf(takenAtMs)
    const count = at >= 1 ? (state[at] ?? 0) : 0
    if (cost === 0 || count === 0) return state
    const next = state.map((value, i) => (i === at ? Math.max(0, count - cost) : value))
    return used(view(next, nowMs)) === 0 ? undefined : next
  }

  return Object.freeze({
    kind: 'sliding-window' as const,
    name,
    limit,
    windowMs,
    width: slices + 2,
    params: Object.freeze([limit, windowMs, slices]),
    take,
    refund,
    prepaid: prepaidInSlice(indexOf),
    scaled: (share: number) => makeSlidingWindow(name, shareOf(limit, share), windowMs, slices),
  })
}
