import { type Reference, type Taken, unused } from './reference.js'
import { movedBackTo, NO_SLICES, type Slices, sliceOf, unitsOf, withHead, withUnits } from './slices.js'

/** A window of `n` slices that ends now; the slice that lies partly outside counts by its part inside. */
export function sliding(limit: number, windowMs: number, n: number): Reference<Slices> {
  const indexAt = (atMs: number) => sliceOf(atMs, windowMs, n)
  const currentAt = (state: Slices, atMs: number) => Math.max(indexAt(atMs), state.head)

  function usedAt(state: Slices, atMs: number): number {
    const current = currentAt(state, atMs)
    const isAhead = state.head > indexAt(atMs)
    const passed = isAhead ? 0 : Math.floor(atMs) * n - current * windowMs // in 1/n ms
    let used = Math.floor((unitsOf(state, current - n) * (windowMs - passed)) / windowMs)
    for (let slice = current - n + 1; slice <= current; slice++) used += unitsOf(state, slice)
    return used
  }

  /** Searches for the first whole millisecond at which at most `most` units count. */
  function untilUsed(state: Slices, nowMs: number, most: number): number {
    if (most < 0) return Number.POSITIVE_INFINITY
    if (usedAt(state, nowMs) <= most) return 0
    let tooEarly = Math.floor(nowMs)
    let enough = tooEarly + 3 * Math.ceil(windowMs) + 2
    while (enough - tooEarly > 1) {
      const middle = Math.floor((tooEarly + enough) / 2)
      if (usedAt(state, middle) <= most) enough = middle
      else tooEarly = middle
    }
    return enough - nowMs
  }

  const settle = (state: Slices, nowMs: number) => movedBackTo(state, indexAt(nowMs) + n)
  const orFresh = (state: Slices, nowMs: number) => (usedAt(state, nowMs) === 0 ? NO_SLICES : state)

  function refund(state: Slices, nowMs: number, { cost, takenAtMs }: Taken): Slices {
    const slice = indexAt(takenAtMs)
    const isKept = slice <= state.head && slice >= state.head - n
    const back = isKept ? Math.min(cost, unitsOf(state, slice)) : 0
    return back === 0 ? state : orFresh(withUnits(state, slice, -back), nowMs)
  }

  /** Gives the newest unit back, or enough of the oldest slice that one unit fewer counts. */
  function rewardOne(state: Slices, nowMs: number): Slices {
    const used = usedAt(state, nowMs)
    for (let slice = state.head; slice > state.head - n; slice--)
      if (unitsOf(state, slice) > 0) return withUnits(state, slice, -1)
    let next = state
    while (used > 0 && usedAt(next, nowMs) === used) next = withUnits(next, next.head - n, -1)
    return next
  }

  return {
    limit,
    fresh: () => NO_SLICES,
    figures(state, nowMs) {
      const used = usedAt(state, nowMs)
      if (used === 0) return unused(limit)
      const settled = settle(state, nowMs)
      return {
        remaining: Math.max(0, limit - used),
        moreAfterMs: untilUsed(settled, nowMs, Math.min(used, limit) - 1),
        resetAfterMs: untilUsed(settled, nowMs, 0),
        bannedForMs: 0,
      }
    },
    take(state, nowMs, cost) {
      const settled = settle(state, nowMs)
      if (usedAt(settled, nowMs) + cost > limit) return undefined
      const current = currentAt(settled, nowMs)
      return withHead(withUnits(settled, current, cost), current, n)
    },
    retryAfterMs: (state, nowMs, cost) => untilUsed(settle(state, nowMs), nowMs, limit - cost),
    settle,
    deny: settle,
    refund,
    reward(state, nowMs, units) {
      if (units === 0) return state
      const settled = settle(state, nowMs)
      let next = withHead(settled, currentAt(settled, nowMs), n)
      for (let i = 0; i < units && usedAt(next, nowMs) > 0; i++) next = rewardOne(next, nowMs)
      return orFresh(next, nowMs)
    },
  }
}
