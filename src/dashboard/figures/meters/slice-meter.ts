import { sliceIndex } from '../../../policies/sliding-window.js'
import type { Meter } from './meter.js'
import { raisePeak } from './peak.js'

/**
 * Creates the meter of a sliding window. It counts as the policy does, but changes its counters in place and
 * computes no waiting times, since it runs for each decision. State: the index of the newest slice, then the counts of
 * the slices in the window, the newest first.
 */
export function sliceMeter(windowMs: number, slices: number): Meter {
  const last = slices + 1

  /** Shifts the counters to the slice of a moment, or less far ahead of it after a step back of the clock. */
  function shift(state: number[], index: number): void {
    const ahead = (state[0] as number) - index
    if (ahead > slices) state[0] = index + slices
    if (ahead >= 0) return
    for (let i = last; i >= 1; i--) state[i] = i + ahead >= 1 ? (state[i + ahead] as number) : 0
    state[0] = index
  }

  function usedIn(state: readonly number[], atMs: number, index: number): number {
    const tick = (state[0] as number) > index ? 0 : Math.floor(atMs) * slices - index * windowMs
    let used = Math.floor(((state[last] as number) * (windowMs - tick)) / windowMs)
    for (let i = 1; i < last; i++) used += state[i] as number
    return used
  }

  return {
    width: slices + 3,
    add(client, atMs, units) {
      const index = sliceIndex(atMs, windowMs, slices)
      const state = (client.state ?? newState(index, slices)) as number[] // this meter made it
      shift(state, index)
      state[1] = (state[1] as number) + units
      client.state = state
      raisePeak(client, usedIn(state, atMs, index))
    },
    refund({ state }, _, { cost, takenAtMs }) {
      const at = 1 + (state?.[0] ?? 0) - sliceIndex(takenAtMs, windowMs, slices)
      if (state === undefined || at < 1 || at > last) return
      const counts = state as number[] // this meter made it
      counts[at] = Math.max(0, (counts[at] as number) - cost)
    },
    take(client, nowMs) {
      const [peak = 0] = client.peaks
      const index = sliceIndex(nowMs, windowMs, slices)
      const left = client.state?.slice()
      if (left !== undefined) shift(left, index)
      const used = left === undefined ? 0 : usedIn(left, nowMs, index)
      if (used === 0) client.state = undefined
      client.peaks = used === 0 ? [] : [used]
      return [peak]
    },
  }
}

function newState(index: number, slices: number): number[] {
  const state = new Array<number>(slices + 2).fill(0)
  state[0] = index
  return state
}
