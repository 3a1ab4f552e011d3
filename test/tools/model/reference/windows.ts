import { type Reference, unused } from './reference.js'

/** Units in one window, which begins at `startMs`. */
interface Window {
  readonly startMs: number
  readonly count: number
}

const NONE: Window = { startMs: Number.NEGATIVE_INFINITY, count: 0 }

/** How the windows of a policy follow each other. */
interface Course {
  /** The window that counts a charge at a time, if the last one is `state`. */
  currentAt(state: Window, nowMs: number): Window
  settle(state: Window, nowMs: number): Window
  /** Whether a window counts units that were taken at a time. */
  holds(state: Window, takenAtMs: number): boolean
}

/** Windows at multiples of their length since the Unix epoch. */
export function clockWindow(limit: number, windowMs: number): Reference<Window> {
  const startAt = (atMs: number) => Math.floor(atMs / windowMs) * windowMs
  return windowsOf(limit, windowMs, {
    currentAt: (state, nowMs) =>
      state.startMs >= startAt(nowMs) ? state : { startMs: startAt(nowMs), count: 0 },
    settle: ({ startMs, count }, nowMs) => ({
      startMs: Math.min(startMs, startAt(nowMs) + windowMs),
      count,
    }),
    holds: ({ startMs }, takenAtMs) => startMs === startAt(takenAtMs),
  })
}

/** Windows that each begin with the first charge after the end of the one before. */
export function firstRequestWindow(limit: number, windowMs: number): Reference<Window> {
  return windowsOf(limit, windowMs, {
    currentAt: (state, nowMs) =>
      state.count > 0 && nowMs < state.startMs + windowMs ? state : { startMs: nowMs, count: 0 },
    settle: ({ startMs, count }, nowMs) => ({ startMs: Math.min(startMs, nowMs), count }),
    holds: ({ startMs }, takenAtMs) => startMs <= takenAtMs && takenAtMs < startMs + windowMs,
  })
}

function windowsOf(limit: number, windowMs: number, course: Course): Reference<Window> {
  const { settle } = course
  const currentAt = (state: Window, nowMs: number) => course.currentAt(settle(state, nowMs), nowMs)
  const less = ({ startMs, count }: Window, units: number): Window =>
    count > units ? { startMs, count: count - units } : NONE

  return {
    limit,
    fresh: () => NONE,
    figures(state, nowMs) {
      const { startMs, count } = currentAt(state, nowMs)
      if (count === 0) return unused(limit)
      const endsAfterMs = startMs + windowMs - nowMs
      return {
        remaining: limit - count,
        moreAfterMs: endsAfterMs,
        resetAfterMs: endsAfterMs,
        bannedForMs: 0,
      }
    },
    take(state, nowMs, cost) {
      const { startMs, count } = currentAt(state, nowMs)
      return count + cost > limit ? undefined : { startMs, count: count + cost }
    },
    retryAfterMs: (state, nowMs, cost) =>
      cost > limit ? Number.POSITIVE_INFINITY : currentAt(state, nowMs).startMs + windowMs - nowMs,
    settle,
    deny: settle,
    refund: (state, nowMs, { cost, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY }) =>
      cost === 0 || nowMs >= resetAtMs || !course.holds(state, takenAtMs) ? state : less(state, cost),
    reward: (state, nowMs, units) => (units === 0 ? state : less(currentAt(state, nowMs), units)),
  }
}

/** A count that only a refund or `forget` reduces. */
export function outstanding(limit: number): Reference<number> {
  const reduce = (count: number, units: number) => Math.max(0, count - units)
  return {
    limit,
    fresh: () => 0,
    figures(count) {
      const never = count === 0 ? 0 : Number.POSITIVE_INFINITY
      return { remaining: limit - count, moreAfterMs: never, resetAfterMs: never, bannedForMs: 0 }
    },
    take: (count, _nowMs, cost) => (count + cost > limit ? undefined : count + cost),
    retryAfterMs: () => Number.POSITIVE_INFINITY,
    settle: (count) => count,
    deny: (count) => count,
    refund: (count, _nowMs, { cost }) => reduce(count, cost),
    reward: (count, _nowMs, units) => reduce(count, units),
  }
}
