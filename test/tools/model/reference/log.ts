import { type Reference, type Taken, unused } from './reference.js'

/** When each unit was taken, in ticks, oldest first. */
type Times = readonly number[]

/**
 * The units of the window that ends now, each with its own time. The newest units are remembered, as many as
 * the limit, rounded up to an even number: after the clock steps back, those that had ended count again.
 */
export function log(limit: number, windowMs: number): Reference<Times> {
  const tickMs = tickOf(windowMs)
  const roundedUp = (ms: number) => Math.ceil(ms / tickMs) * tickMs
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
      return [...settle(times, nowMs), ...taken].slice(-2 * Math.ceil(limit / 2))
    },
    retryAfterMs: (times, nowMs, cost) => untilUsed(times, nowMs, limit - cost),
    settle,
    deny: settle,
    refund: (times, nowMs, { cost, takenAtMs }: Taken) => {
      const takenMs = roundedUp(takenAtMs)
      if (nowMs >= takenMs + windowMs) return times
      let left = cost
      const kept = times.filter((ms) => ms !== takenMs || left-- <= 0)
      return kept.length === times.length ? times : orFresh(kept, nowMs)
    },
    reward: (times, nowMs, units) => {
      if (units === 0) return times
      const back = Math.min(units, counting(times, nowMs).length)
      return orFresh(settle(times, nowMs).slice(0, times.length - back), nowMs)
    },
  }
}

/** Returns the precision of times: 1 ms, doubled until a window has at most 2^25 of them. */
function tickOf(windowMs: number): number {
  return windowMs <= 2 ** 25 ? 1 : 2 * tickOf(windowMs / 2)
}
