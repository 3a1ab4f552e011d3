import { type Reference, type Taken, unused } from './reference.js'
import { movedBackTo, NO_SLICES, type Slices, sliceOf, unitsOf, withHead, withUnits } from './slices.js'

/** Units that are not renewed are free after `ttl`, at most an eighth of it later. */
const PER_TTL = 8
/** Nobody knows when a request will end, so a denial says one second. */
const HINT_MS = 1000

/** Units in use at once. They count in the slice of their charge or last renewal, and for a `ttl` after it. */
export function inFlight(limit: number, ttlMs: number): Reference<Slices> {
  const indexAt = (atMs: number) => sliceOf(atMs, ttlMs, PER_TTL)
  const currentAt = (state: Slices, nowMs: number) => Math.max(indexAt(nowMs), state.head)
  const viewAt = (state: Slices, nowMs: number) => withHead(state, currentAt(state, nowMs), PER_TTL)
  const settle = (state: Slices, nowMs: number) => movedBackTo(state, indexAt(nowMs) + PER_TTL)
  const held = ({ units }: Slices) => [...units.values()].reduce((sum, each) => sum + each, 0)
  /** The first whole millisecond a `ttl` after the end of a slice. */
  const endOf = (slice: number) => Math.ceil(((slice + 1 + PER_TTL) * ttlMs) / PER_TTL)

  /** Finds the slice by when its units are free; otherwise by when they were taken. */
  function sliceOfHeld({ takenAtMs, resetAtMs }: Taken): number {
    if (resetAtMs === undefined) return indexAt(takenAtMs)
    const latest = indexAt(resetAtMs)
    for (let slice = latest; slice > latest - 2 * PER_TTL; slice--)
      if (endOf(slice) === Math.round(resetAtMs)) return slice
    return Number.NaN
  }

  function without(state: Slices, taken: Taken): Slices {
    const slice = sliceOfHeld(taken)
    const isKept = slice <= state.head && slice >= state.head - PER_TTL
    return isKept ? withUnits(state, slice, -Math.min(taken.cost, unitsOf(state, slice))) : state
  }

  const orFresh = (state: Slices, nowMs: number) => (held(viewAt(state, nowMs)) === 0 ? NO_SLICES : state)

  return {
    limit,
    fresh: () => NO_SLICES,
    figures(state, nowMs) {
      const view = viewAt(settle(state, nowMs), nowMs)
      const units = held(view)
      if (units === 0) return unused(limit)
      const newest = Math.max(...[...view.units].filter(([, each]) => each > 0).map(([slice]) => slice))
      return {
        remaining: Math.max(0, limit - units),
        moreAfterMs: HINT_MS,
        resetAfterMs: endOf(newest) - nowMs,
        bannedForMs: 0,
      }
    },
    take(state, nowMs, cost) {
      const view = viewAt(settle(state, nowMs), nowMs)
      return held(view) + cost > limit ? undefined : withUnits(view, view.head, cost)
    },
    retryAfterMs: (_state, _nowMs, cost) => (cost > limit ? Number.POSITIVE_INFINITY : HINT_MS),
    settle,
    deny: settle,
    refund(state, nowMs, taken) {
      const left = without(state, taken)
      return held(left) === held(state) ? state : orFresh(left, nowMs)
    },
    reward: (state) => state,
    renew(state, nowMs, taken) {
      const left = without(viewAt(settle(state, nowMs), nowMs), taken)
      return orFresh(withUnits(left, left.head, taken.cost), nowMs)
    },
  }
}
