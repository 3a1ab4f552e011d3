import type { Meter } from './meter.js'
import { raisePeak } from './peak.js'

/** How many times it keeps of a client. */
const MAX_TIMES = 64

/**
 * Creates the meter of a sliding log. A log without a limit has no end, so this one keeps 64 times at most, with
 * the units of each: up to 64 requests in a window are exact. Of more, it counts neighbours as taken together,
 * when the later one was. So it counts units for too long, by some 3 % of the window, and never for too short.
 * State: the times, oldest first, each followed by its units.
 */
export function logMeter(windowMs: number): Meter {
  /** Returns the units in use. */
  function usedIn(log: readonly number[]): number {
    let used = 0
    for (let i = 1; i < log.length; i += 2) used += log[i] as number
    return used
  }

  function current(log: readonly number[], nowMs: number): number[] {
    const kept: number[] = []
    for (let i = 0; i < log.length; i += 2) {
      const at = Math.min(log[i] as number, Math.ceil(nowMs)) // as of a log after a step back
      if (at > nowMs - windowMs) kept.push(at, log[i + 1] as number)
    }
    return kept
  }

  return {
    width: 2 * MAX_TIMES + 1,
    add(client, atMs, units) {
      const log = current(client.state ?? [], atMs)
      const at = Math.ceil(atMs)
      if (log.at(-2) === at) log[log.length - 1] = (log.at(-1) as number) + units
      else log.push(at, units)
      if (log.length > 2 * MAX_TIMES) joinClosest(log)
      client.state = log
      raisePeak(client, usedIn(log))
    },
    take(client, nowMs) {
      const [peak = 0] = client.peaks
      const log = current(client.state ?? [], nowMs)
      client.state = log.length === 0 ? undefined : log
      client.peaks = log.length === 0 ? [] : [usedIn(log)]
      return [peak]
    },
  }
}

/** Joins the two neighbours of a log that, together, are the shortest part of it. The oldest stays, to expire. */
function joinClosest(log: number[]): void {
  let [best, shortest] = [2, Number.POSITIVE_INFINITY]
  for (let i = 2; i + 2 < log.length; i += 2) {
    const lengthMs = (log[i + 2] as number) - (log[i - 2] as number)
    if (lengthMs < shortest) [best, shortest] = [i, lengthMs]
  }
  log[best + 3] = (log[best + 3] as number) + (log[best + 1] as number)
  log.splice(best, 2)
}
