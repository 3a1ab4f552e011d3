import { type Reference, type Taken, unused } from './reference.js'

/** When each unit was taken, in whole milliseconds, oldest first. */
type Times = readonly number[]

/**
 * The units of the window that ends now, each with its own time. The next charge drops those that have ended:
 * until then, they count again after the clock steps back.
 */
export function log(limit: number, windowMs: number): Reference<Times> {
  const roundedUp = Math.ceil
  const settle = (times: Times, nowMs: number) => times.map((ms) => Math.min(ms, roundedUp(nowMs)))
  const counting = (times: Times, nowMs: number) => settle(times, nowMs).filter((ms) => nowMs < ms + windowMs)
  const orFresh = (times: Times, nowMs: number) => (counting(times, nowMs).length === 0 ? [] : times)

  /** Waits for one unit after the other to leave the window. */
  function untilUsed(times: Times, nowMs: number, most: number): number {
    if (most < 0) return Number.POSITIVE_INFINITY
    const leaving = counting(times, nowMs)
    let afterMs = 0
    while (leaving.length > most) afterMs = (leaving.shift() as number) + windowMs - nowMs
    return afterMs
  }

  return {
    limit,
    fresh: () => [],
    figures(times, nowMs) {
      const used = counting(times, nowMs).length
      if (used === 0) return unused(limit)
      return {
        remaining: Math.max(0, limit - used),
        moreAfterMs: untilUsed(times, nowMs, Math.min(used, limit) - 1),
        resetAfterMs: untilUsed(times, nowMs, 0),
        bannedForMs: 0,
      }
    },
    take(times, nowMs, cost) {
      if (counting(times, nowMs).length + cost > limit) return undefined
      const taken = Array<number>(cost).fill(roundedUp(nowMs))
      return [...counting(times, nowMs), ...taken]
    },
    retryAfterMs: (times, nowMs, cost) => untilUsed(times, nowMs, limit - cost),
    settle,
    deny: settle,
    refund: (times, nowMs, { cost, takenAtMs }: Taken) => {
      const takenMs = roundedUp(takenAtMs)
      if (nowMs >= takenMs + windowMs) return times
      let left = cost
      const kept = times.filter((ms) => ms !== takenMs || left-- <= 0)
      return kept.length === times.length ? times : kept
    },
    reward: (times, nowMs, units) => {
      if (units === 0) return times
      const back = Math.min(units, times.length)
      return orFresh(settle(times, nowMs).slice(0, times.length - back), nowMs)
    },
  }
}
