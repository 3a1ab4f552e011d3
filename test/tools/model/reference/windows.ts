import { type Reference, unused } from './reference.js'

/** Units that were counted, and the time by which their window is found. */
interface Counted {
  readonly atMs: number
  readonly count: number
}

const NONE: Counted = { atMs: Number.NEGATIVE_INFINITY, count: 0 }

/** How the windows of a policy follow each other. */
interface Course {
  /** Whether the window of a state has not ended. */
  isCurrent(state: Counted, nowMs: number): boolean
  /** The time of a state after a charge. */
  charged(state: Counted | undefined, nowMs: number): number
  settle(state: Counted, nowMs: number): Counted
  startOf(atMs: number): number
  /** The latest end of a window with a charge that expected its units back at a time. */
  latestEnd(resetAtMs: number): number
}

/** Windows at multiples of their length since the Unix epoch. A state has the time of its last charge. */
export function clockWindow(limit: number, windowMs: number): Reference<Counted> {
  const startOf = (atMs: number) => Math.floor(atMs / windowMs) * windowMs
  return windowsOf(limit, windowMs, {
    isCurrent: ({ atMs }, nowMs) => startOf(atMs) >= startOf(nowMs),
    charged: (state, nowMs) => Math.max(state?.atMs ?? nowMs, nowMs),
    settle: ({ atMs, count }, nowMs) => ({ atMs: Math.min(atMs, startOf(nowMs) + windowMs), count }),
    startOf,
    latestEnd: () => Number.POSITIVE_INFINITY,
  })
}

/** Windows that each begin with the first charge after the end of the one before: the time of a state. */
export function firstRequestWindow(limit: number, windowMs: number): Reference<Counted> {
  return windowsOf(limit, windowMs, {
    isCurrent: ({ atMs }, nowMs) => nowMs < atMs + windowMs,
    charged: (state, nowMs) => state?.atMs ?? nowMs,
    settle: ({ atMs, count }, nowMs) => ({ atMs: Math.min(atMs, nowMs), count }),
    startOf: (atMs) => atMs,
    latestEnd: (resetAtMs) => resetAtMs + 1, // times are rounded
  })
}

function windowsOf(limit: number, windowMs: number, course: Course): Reference<Counted> {
  const { settle, startOf } = course
  const less = ({ atMs, count }: Counted, units: number): Counted =>
    count > units ? { atMs, count: count - units } : NONE

  /** Returns the state as it counts now; `undefined` if its window has ended. */
  function current(state: Counted, nowMs: number): Counted | undefined {
    const settled = settle(state, nowMs)
    return settled.count > 0 && course.isCurrent(settled, nowMs) ? settled : undefined
  }

  function endsAfterMs(state: Counted, nowMs: number): number {
    const atMs = course.charged(current(state, nowMs), nowMs)
    return startOf(atMs) + windowMs - nowMs
  }

  return {
    limit,
    fresh: () => NONE,
    figures(state, nowMs) {
      const { count } = current(state, nowMs) ?? NONE
      if (count === 0) return unused(limit)
      const afterMs = endsAfterMs(state, nowMs)
      return {
        remaining: Math.max(0, limit - count),
        moreAfterMs: afterMs,
        resetAfterMs: afterMs,
        bannedForMs: 0,
      }
    },
    take(state, nowMs, cost) {
      const before = current(state, nowMs)
      const count = (before?.count ?? 0) + cost
      return count > limit ? undefined : { atMs: course.charged(before, nowMs), count }
    },
    retryAfterMs: (state, nowMs, cost) =>
      cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs(state, nowMs),
    settle,
    deny: settle,
    refund(state, nowMs, { cost, takenAtMs, resetAtMs = Number.POSITIVE_INFINITY }) {
      const startMs = startOf(state.atMs)
      const endMs = startMs + windowMs
      const isTakenHere = startMs <= takenAtMs && takenAtMs < endMs && endMs <= course.latestEnd(resetAtMs)
      const isOver = Math.max(nowMs, state.atMs) >= resetAtMs
      return cost === 0 || !isTakenHere || isOver ? state : less(state, cost)
    },
    reward: (state, nowMs, units) => (units === 0 ? state : less(current(state, nowMs) ?? NONE, units)),
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
      return {
        remaining: Math.max(0, limit - count),
        moreAfterMs: never,
        resetAfterMs: never,
        bannedForMs: 0,
      }
    },
    take: (count, _nowMs, cost) => (count + cost > limit ? undefined : count + cost),
    retryAfterMs: () => Number.POSITIVE_INFINITY,
    settle: (count) => count,
    deny: (count) => count,
    refund: (count, _nowMs, { cost }) => reduce(count, cost),
    reward: (count, _nowMs, units) => reduce(count, units),
  }
}
