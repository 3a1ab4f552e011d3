import { bucketUnit, GRID_PER_MS } from '../../../policies/bucket-grid.js'
import { RATES } from '../../../tuning/demand-curve.js'
import type { Meter, Metered } from './meter.js'

/**
 * Creates the meter of a token bucket: of one that never denies, at each of `RATES`. State: the time that each
 * takes to be full, and when that was. Times are on the grid of buckets and rates are powers of two, so they
 * are as exact as those of a bucket.
 */
export function bucketMeter(intervalMs: number): Meter {
  const intervalsMs = RATES.map((rate) => intervalMs / rate)
  const count = RATES.length
  const unitMs = bucketUnit(intervalMs)

  function newState(atMs: number): number[] {
    const state = new Array<number>(count + 1).fill(0)
    state[count] = atMs
    return state
  }

  return {
    width: 2 * count + 1,
    add(client, atMs, units) {
      const now = Math.floor(atMs * GRID_PER_MS) / GRID_PER_MS
      const state = (client.state ?? newState(now)) as number[] // this meter made it
      const passedMs = Math.max(0, now - (state[count] as number))
      const { peaks } = client
      for (let i = 0; i < count; i++) {
        const leftMs = Math.max(0, (state[i] as number) - passedMs) + units * (intervalsMs[i] as number)
        state[i] = leftMs
        if (!(leftMs <= (peaks[i] as number))) peaks[i] = leftMs
      }
      state[count] = now
      client.state = state
    },
    refund({ state }, nowMs, { cost, takenAtMs, resetAtMs = takenAtMs + cost * intervalMs }) {
      if (state === undefined) return
      const lefts = state as number[] // this meter made it
      const costMs = cost * intervalMs
      const leftMs = Math.floor(Math.min(costMs, resetAtMs - nowMs) / unitMs) * unitMs
      const passedMs = Math.max(0, nowMs - takenAtMs)
      for (const [i, rate] of RATES.entries()) {
        // A slower refill has restored no more of them, and a faster one no more than if it had begun with them.
        const backMs = Math.max(0, rate > 1 ? Math.min(leftMs, costMs - rate * passedMs) : leftMs)
        lefts[i] = Math.max(0, (lefts[i] as number) - backMs / rate)
      }
    },
    take(client, nowMs) {
      const curve = intervalsMs.map((each, i) => Math.ceil((client.peaks[i] ?? 0) / each))
      settle(client, nowMs)
      return curve
    },
  }

  function settle(client: Metered, nowMs: number): void {
    const { state } = client
    const passedMs = Math.max(0, nowMs - (state?.[count] ?? 0))
    const left = intervalsMs.map((_, i) => Math.max(0, (state?.[i] ?? 0) - passedMs))
    client.peaks = left[0] === 0 ? [] : left
    if (left[0] === 0) client.state = undefined
  }
}
